required_plugins {
  Aws     = { source = "x.example/y", version = "1.0.0" }
  con     = { source = "x.example/y", version = "1.0.0" }
  lpt9    = { source = "x.example/y", version = "1.0.0" }
  com     = { source = "x.example/y", version = "1.0.0" }
  größe   = { source = "x.example/y", version = "1.0.0" }
  _x      = { source = "x.example/y", version = "1.0.0" }
  a2345678901234567890123456789012345678901234567890123456789012345 = { source = "x.example/y", version = "1.0.0" }
  a234567890123456789012345678901234567890123456789012345678901234  = { source = "x.example/y", version = "1.0.0" }
}

# ERROR: 2:3 Invalid plugin name
# ERROR: 3:3 Invalid plugin name
# ERROR: 4:3 Invalid plugin name
# ERROR: 6:3 Invalid plugin name
# ERROR: 7:3 Invalid plugin name
# ERROR: 8:3 Invalid plugin name
