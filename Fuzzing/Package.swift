// swift-tools-version: 6.2
import PackageDescription

// A package of its own, so that users of Larder do not build the fuzzer. Its core is that of the tests: Core is a link to it.
let package = Package(
  name: "larder-fuzzing",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "larder", path: "..")],
  targets: [
    .executableTarget(
      name: "LanguageFuzzer", dependencies: [.product(name: "LarderOData", package: "larder")],
      swiftSettings: [
        .swiftLanguageMode(.v6), .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("MemberImportVisibility"),
      ])
  ]
)
