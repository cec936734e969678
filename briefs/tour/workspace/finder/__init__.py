"""The meeting finder: loads a region's meetings, puts them on local time and lists them by day."""
