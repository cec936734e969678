"""What is seen: Textual widgets that show store objects and post messages."""
