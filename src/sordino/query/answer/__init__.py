"""What the analyst gets: rows with intervals, as Arrow, text, HTML and plots, and the receipt."""
