required_plugins { aws = { source = "user:secret@x.example/y", version = "1.0.0" }, gcp = {} }

# ERROR: 1:83 Invalid single-argument block definition
