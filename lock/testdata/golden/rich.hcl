# Maintained by the plugins installer. Commit this file; do not edit it by hand.

lock_format = 1

plugin "aws" {
  source    = "registry.example.com/plugins/aws"
  version   = "1.4.2"
  digest    = "sha256:4c6b3095f4f20c609604a4a9eb41bae420c7ff74c89739b2b8b1d00b1da43230"
  protocols = [5, 6]

  platform "darwin/arm64" {
    manifest          = "sha256:62d26382d1c6241f1fa6937ddbb80d13c29e4dee8acdc767afb298bb3910dab9"
    executable_digest = "sha256:8c2548a04545b8ef97a30e9048bdbaeb01692fc03f3b99ec956edab1cd1e0cbe"
  }

  platform "linux/amd64" {
    manifest          = "sha256:e88635c06b137eca442625b5b85a55d9f68eee1294b0dd380d951c4d55c47139"
    executable_digest = "sha256:1be00ebc086ea9543794780ad2c334713e9050e94115e5d4a9c75bcc769d81dc"
  }
}

plugin "each" {
  source    = "registry.example.com/plugins/each"
  version   = "2.0.0-rc.1"
  digest    = "sha256:41e64b2f90c3ab5c661b81d705a19c58f53254ddb5f3e2d85ff1669b02b7b4b1"
  protocols = [1]

  executable = {
    "linux/amd64"   = "/x"
    "linux/arm/v7"  = "/arm"
    "windows/amd64" = "/Files/x.exe"
  }

  platform "linux/amd64" {
    manifest          = "sha256:770e9ba7d67361fe1396a37facb296b65b230ddef17daa1427661a2567a8b86f"
    executable_digest = "sha256:9544cf3fa4c5e78f4aa8f3fd69619605ccd6e95996be3886a54211ed229dca0a"
  }

  platform "windows/amd64" {
    manifest          = "sha256:ac1e9157d2122c4e04d2937be77277b3f269e172c6d05c80a1713bde85dcc270"
    executable_digest = "sha256:a6e3b9d245b1bf029ed5e63f29740f7e0364e0e3b61648db2c6c34f98c0714ba"
  }
}

plugin "velero_aws" {
  source     = "registry.example.com/plugins/velero_aws"
  version    = "1.9.0+build.1"
  tag        = "v1.9.0_build.1"
  digest     = "sha256:f9775a54578e936e0e099c34bf9a4262a5273f4a77c4e67a0eaab2d41df1a7d7"
  executable = "/a b/$${x}%%{y}\"z\"$$${é}"

  platform "linux/amd64" {
    manifest          = "sha256:a0dc873821151303139dac3048c15638593bfaeeeb3501fc3aedc365426559a7"
    executable_digest = "sha256:931e17083317aa2aef0e779fd8952fc3109719b40ed688c02a83b03d8152bc87"
  }

  platform "linux/arm/v7" {
    manifest          = "sha256:ba89b006448695a162a3a722e35428c4a0e94b5f2e487fc7995dc8eba9ee7d18"
    executable_digest = "sha256:741fe7c2b04b2b982f2b8b793feea43bce54b948553a32848c274b381d8feb52"
  }

  platform "linux/arm64" {
    manifest          = "sha256:de92eb35e9a04cc66681fc0042a97da83e3c1071ac878b14af56d11e31496e08"
    executable_digest = "sha256:522db03b2b788a34d58f6a0acdcd3275f5915c38ae3def197fc06ef527f3f2d6"
  }
}
