// swift-tools-version: 6.2
import PackageDescription

// A separate package, so that users of Larder do not build the fuzzer. Core is a link to the code that the tests use.
//
// It calls package API of Larder. A package's identity is the name of its folder, in lower case.
let larder = Context.packageDirectory.split(separator: "/").dropLast().last.map { $0.lowercased() } ?? ""

let package = Package(
  name: "larder-fuzzing",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "larder", path: "..")],
  targets: [
    .executableTarget(
      name: "LanguageFuzzer", dependencies: [.product(name: "LarderOData", package: "larder")],
      swiftSettings: [
        .swiftLanguageMode(.v6), .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("MemberImportVisibility"), .unsafeFlags(["-package-name", larder]),
      ])
  ]
)
