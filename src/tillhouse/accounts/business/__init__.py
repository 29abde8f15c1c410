"""The business itself: its name, how it trades, and its particulars on receipts."""
