// swift-tools-version: 6.2
import PackageDescription

// A separate package, so that users of Larder do not build the benchmarks.
//
// LanguageBenchmark calls package API of Larder. The compiler knows a package by the name of its folder, in lower case.
let folder = Context.packageDirectory.split(separator: "/").dropLast().last ?? ""
let larder = String(folder.lowercased().map { $0.isLetter || $0.isNumber ? $0 : "_" })

let package = Package(
  name: "larder-benchmarks",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "larder", path: "..")],
  targets: [
    // SQLite, called directly: the baseline of the comparisons.
    .systemLibrary(
      name: "CBenchSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite"])]),
    // Compares stores with and without a key.
    .target(
      name: "KeyCost",
      swiftSettings: [.swiftLanguageMode(.v6), .enableUpcomingFeature("NonisolatedNonsendingByDefault")]
    ),
    .executableTarget(
      name: "CacheBenchmark",
      dependencies: [
        "CBenchSQLite", "KeyCost",
        .product(name: "LarderOnline", package: "larder"),
        .product(name: "LarderHTTP", package: "larder"),
        .product(name: "LarderService", package: "larder"),
      ], swiftSettings: [.swiftLanguageMode(.v6)]),
    .executableTarget(
      name: "ContentBenchmark",
      dependencies: [
        "KeyCost", .product(name: "LarderContent", package: "larder"), .product(name: "LarderHTTP", package: "larder"),
      ],
      swiftSettings: [.swiftLanguageMode(.v6), .enableUpcomingFeature("NonisolatedNonsendingByDefault")]),
    .executableTarget(
      name: "LanguageBenchmark", dependencies: [.product(name: "LarderOData", package: "larder")],
      packageAccess: false,
      swiftSettings: [.swiftLanguageMode(.v6), .unsafeFlags(["-package-name", larder])]),
    .executableTarget(
      name: "OfflineBenchmark",
      dependencies: [
        "CBenchSQLite", "KeyCost", .product(name: "LarderOffline", package: "larder"),
        .product(name: "LarderCurl", package: "larder"), .product(name: "LarderHTTP", package: "larder"),
        .product(name: "LarderOData", package: "larder"),
      ], swiftSettings: [.swiftLanguageMode(.v6), .enableUpcomingFeature("NonisolatedNonsendingByDefault")]),
    .executableTarget(
      name: "ObjectBenchmark",
      dependencies: ["CBenchSQLite", "KeyCost", .product(name: "LarderObjects", package: "larder")],
      swiftSettings: [.swiftLanguageMode(.v6), .enableUpcomingFeature("NonisolatedNonsendingByDefault")]),
  ]
)
