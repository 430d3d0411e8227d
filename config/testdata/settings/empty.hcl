sources {
}

# ERROR: 1:9 Missing required argument
