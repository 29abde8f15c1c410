"""Speech: engines that speak and hear, each behind one small interface."""
