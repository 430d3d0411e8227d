sources {
  allow = []
}

# ERROR: 2:11 Value of the wrong type
