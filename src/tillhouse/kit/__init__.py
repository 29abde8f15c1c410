"""The bottom room: pure pieces that every other room may use and that know none of them."""
