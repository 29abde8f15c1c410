"""The wallet: the money that is free, and the money that is on its way out."""
