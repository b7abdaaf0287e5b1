// swift-tools-version: 6.2
import PackageDescription

// A separate package, so that users of Larder do not build the fuzzer. Core is a link to the code that the tests use.
//
// It calls package API of Larder. The compiler knows a package by the name of its folder, in lower case.
let folder = Context.packageDirectory.split(separator: "/").dropLast().last ?? ""
let larder = String(folder.lowercased().map { $0.isLetter || $0.isNumber ? $0 : "_" })

let package = Package(
  name: "larder-fuzzing",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "larder", path: "..")],
  targets: [
    .executableTarget(
      name: "LanguageFuzzer", dependencies: [.product(name: "LarderOData", package: "larder")],
      packageAccess: false,
      swiftSettings: [
        .swiftLanguageMode(.v6), .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("MemberImportVisibility"), .unsafeFlags(["-package-name", larder]),
      ])
  ]
)
