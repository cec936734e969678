"""The themes of high contrast, dark and light, beside Textual's own."""

from __future__ import annotations

from textual.theme import Theme

HIGH_CONTRAST = Theme(
    name="high-contrast",
    primary="#6fd3ff",
    secondary="#ffb0ff",
    accent="#ffd75f",
    success="#7dff7d",
    warning="#ffff5f",
    error="#ff9f9f",
    foreground="#ffffff",
    background="#000000",
    surface="#000000",
    panel="#1a1a1a",
    boost="#262626",
    dark=True,
    variables={
        "text-muted": "#d8d8d8",
        "text-primary": "#6fd3ff",
        "text-secondary": "#ffb0ff",
        "text-accent": "#ffd75f",
        "text-success": "#7dff7d",
        "text-warning": "#ffff5f",
        "text-error": "#ff9f9f",
        "primary-muted": "#003a52",
        "success-muted": "#0a3a0a",
        "warning-muted": "#3a3a00",
        "accent-muted": "#3a2c00",
        "footer-key-foreground": "#ffd75f",
    },
)
HIGH_CONTRAST_LIGHT = Theme(
    name="high-contrast-light",
    primary="#00408f",
    secondary="#6a006a",
    accent="#6b3400",
    success="#004d00",
    warning="#5f3f00",
    error="#900000",
    foreground="#000000",
    background="#ffffff",
    surface="#ffffff",
    panel="#e8e8e8",
    boost="#dedede",
    dark=False,
    variables={
        "text-muted": "#303030",
        "text-primary": "#00408f",
        "text-secondary": "#6a006a",
        "text-accent": "#6b3400",
        "text-success": "#004d00",
        "text-warning": "#5f3f00",
        "text-error": "#900000",
        "primary-muted": "#cfe4ff",
        "success-muted": "#cdf5cd",
        "warning-muted": "#fff0b8",
        "accent-muted": "#ffe6c8",
        "footer-key-foreground": "#6b3400",
    },
)
LOOKS = ("textual-dark", "textual-light", HIGH_CONTRAST.name, HIGH_CONTRAST_LIGHT.name)
"""What the key for the looks goes through; the palette offers all of Textual's themes as well."""
