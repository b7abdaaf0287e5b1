// swift-tools-version: 6.2
import PackageDescription

// One list of settings for every target: Swift 6 mode, the upcoming features we rely on. Scripts/test and
// Scripts/check reject warnings. No setting here does: Xcode's build system suppresses warnings of dependencies and rejects both together.
let common: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .enableUpcomingFeature("InferIsolatedConformances"),
]

// Targets that touch C say at each place why it is safe.
let touchingC = common + [.strictMemorySafety()]

// The HTTP server waits for its sockets by epoll, which is Linux's: elsewhere there is no proxy.
#if os(Linux)
  let notHere: [String] = []
  let testsNotHere: [String] = []
#else
  let notHere = ["Proxy"]
  let testsNotHere = ["Verbs/ProxySafetyTests.swift", "Verbs/ProxyVerbTests.swift"]
#endif
func onLinux(_ dependency: Target.Dependency) -> Target.Dependency? { notHere.isEmpty ? dependency : nil }

// On Linux pkg-config knows where the system's libraries are. On a Mac it would know those of Homebrew alone, and their paths
// would reach builds for iOS.
#if os(Linux)
  func pkgConfig(_ name: String) -> String? { name }
#else
  func pkgConfig(_ name: String) -> String? { nil }
#endif

let package = Package(
  name: "larder",
  platforms: [.macOS(.v15), .iOS(.v18), .visionOS(.v2)],
  products: [
    .library(name: "Larder", targets: ["Larder"]),
    .library(name: "LarderOnline", targets: ["LarderOnline"]),
    .library(name: "LarderOffline", targets: ["LarderOffline"]),
    .library(name: "LarderOData", targets: ["LarderOData", "LarderODataXML"]),
    .library(name: "LarderService", targets: ["LarderService"]),
    .library(name: "LarderHTTP", targets: ["LarderHTTP"]),
    .library(name: "LarderCurl", targets: ["LarderCurl"]),
    .library(name: "LarderURLSession", targets: ["LarderURLSession"]),
    .library(name: "LarderContent", targets: ["LarderContent"]),
    .library(name: "LarderObjects", targets: ["LarderObjects"]),
    .library(name: "LarderStorage", targets: ["LarderStorage"]),
    .library(name: "LarderTesting", targets: ["LarderTesting"]),
    .executable(name: "larder", targets: ["LarderTool"]),
    // A command plugin finds its tool by a product that has the name of the target.
    .executable(name: "LarderTool", targets: ["LarderTool"]),
    .plugin(name: "LarderGenerator", targets: ["LarderGeneratorPlugin"]),
    .plugin(name: "LarderMetadata", targets: ["LarderMetadataPlugin"]),
  ],
  targets: [
    // System libraries: a module map and a shim each, one importer each.
    .systemLibrary(
      name: "CLarderSQLite", pkgConfig: pkgConfig("sqlite3"), providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite"])]),
    .systemLibrary(
      name: "CLarderXML2", pkgConfig: pkgConfig("libxml-2.0"), providers: [.apt(["libxml2-dev"]), .brew(["libxml2"])]),
    .systemLibrary(
      name: "CLarderCurl", pkgConfig: pkgConfig("libcurl"),
      providers: [.apt(["libcurl4-openssl-dev"]), .brew(["curl"])]),
    .systemLibrary(
      name: "CLarderZlib", pkgConfig: pkgConfig("zlib"), providers: [.apt(["zlib1g-dev"]), .brew(["zlib"])]),
    .systemLibrary(
      name: "CLarderCrypto", pkgConfig: pkgConfig("libcrypto"), providers: [.apt(["libssl-dev"]), .brew(["openssl"])]),

    // What all targets share: the lock, the protocol of errors, and the environment (time, random numbers, tasks).
    .target(name: "LarderCore", swiftSettings: common),

    // The language and the wire.
    .target(name: "LarderHTTP", dependencies: ["LarderCore"], swiftSettings: common),
    .target(name: "LarderOData", dependencies: ["LarderHTTP", "LarderCore"], swiftSettings: common),
    .target(
      name: "LarderODataXML", dependencies: ["LarderOData", "LarderCore", "CLarderXML2"], swiftSettings: touchingC),
    .target(
      name: "LarderCurl", dependencies: ["LarderHTTP", "LarderCore", "CLarderCurl", "CLarderZlib"],
      swiftSettings: touchingC),
    .target(name: "LarderURLSession", dependencies: ["LarderHTTP", "LarderCore"], swiftSettings: common),
    .target(
      name: "LarderStorage",
      dependencies: [
        "LarderCore", "CLarderSQLite", .target(name: "CLarderCrypto", condition: .when(platforms: [.linux])),
      ],
      swiftSettings: touchingC),

    // One conversation with a service, and the store on it.
    .target(
      name: "LarderService", dependencies: ["LarderOData", "LarderODataXML", "LarderHTTP", "LarderCore"],
      swiftSettings: common),
    .target(
      name: "LarderOnline",
      dependencies: ["LarderService", "LarderOData", "LarderODataXML", "LarderHTTP", "LarderCore", "LarderStorage"],
      swiftSettings: common),
    .target(
      name: "LarderOffline",
      dependencies: ["LarderService", "LarderOData", "LarderODataXML", "LarderHTTP", "LarderCore", "LarderStorage"],
      swiftSettings: touchingC),

    // Swift types from a model; of the other targets it needs the language alone, so that a build plugin stays small.
    .target(name: "LarderGenerator", dependencies: ["LarderOData"], swiftSettings: common),

    .executableTarget(
      name: "LarderGeneratorTool", dependencies: ["LarderGenerator", "LarderOData", "LarderODataXML"],
      swiftSettings: common),
    .plugin(
      name: "LarderGeneratorPlugin", capability: .buildTool(), dependencies: ["LarderGeneratorTool"]),
    .plugin(
      name: "LarderMetadataPlugin",
      capability: .command(
        intent: .custom(
          verb: "larder-metadata", description: "fetch the metadata of a service, and list what changes for the code"),
        permissions: [
          .writeToPackageDirectory(reason: "The new metadata document replaces the former one."),
          .allowNetworkConnections(scope: .all(), reason: "The metadata is fetched from the service."),
        ]), dependencies: ["LarderTool"]),

    // Resources of any kind.
    .target(
      name: "LarderContent", dependencies: ["LarderHTTP", "LarderCore", "LarderStorage"], swiftSettings: touchingC),
    // Values by key and label; knows no network.
    .target(name: "LarderObjects", dependencies: ["LarderCore", "LarderStorage"], swiftSettings: touchingC),

    // All of them, for applications: `import Larder`.
    .target(
      name: "Larder",
      dependencies: [
        "LarderOnline", "LarderOffline", "LarderContent", "LarderObjects",
        .target(name: "LarderCurl", condition: .when(platforms: [.linux])),
        .target(
          name: "LarderURLSession",
          condition: .when(platforms: [.macOS, .iOS, .visionOS, .watchOS, .tvOS, .macCatalyst])),
      ], swiftSettings: common),

    // For tests of applications: a network, services, a clock and stores without a server.
    .target(
      name: "LarderTesting",
      dependencies: [
        "LarderOnline", "LarderOffline", "LarderContent", "LarderObjects", "LarderService", "LarderOData",
        "LarderODataXML", "LarderHTTP", "LarderCore", "LarderStorage",
      ], swiftSettings: common),

    // The command line.
    .target(
      name: "LarderCommands",
      dependencies: [
        "LarderOnline", "LarderOffline", "LarderService", "LarderOData", "LarderODataXML", "LarderHTTP", "LarderCore",
        "LarderCurl",
        "LarderContent", "LarderObjects", "LarderStorage", "LarderGenerator", onLinux("LarderServer"),
      ].compactMap { $0 },
      exclude: notHere, swiftSettings: common),
    // Not named as the product: on a disk that ignores case its folder would be that of `Larder`.
    .executableTarget(name: "LarderTool", dependencies: ["LarderCommands"], swiftSettings: common),

    // Tests mirror Sources; LarderTestSupport holds the rigs (scripted server, real services, temporary folders).
    .target(
      name: "LarderTestSupport", dependencies: ["LarderHTTP", "LarderCore"], path: "Tests/LarderTestSupport",
      swiftSettings: common),
    .target(
      name: "LarderHistoryRig",
      dependencies: ["LarderOffline", "LarderService", "LarderOData", "LarderHTTP", "LarderCore", "LarderTestSupport"],
      path: "Tests/LarderHistoryRig", swiftSettings: common),
    .executableTarget(
      name: "LarderHistoryRunner", dependencies: ["LarderHistoryRig"], path: "Tests/LarderHistoryRunner",
      swiftSettings: common),
    .testTarget(
      name: "LarderHistoryRigTests",
      dependencies: [
        "LarderHistoryRig", "LarderOffline", "LarderService", "LarderOData", "LarderHTTP", "LarderTestSupport",
      ],
      swiftSettings: common),
    .testTarget(
      name: "LarderCoreTests",
      dependencies: [
        "LarderCore", "LarderOnline", "LarderOffline", "LarderService", "LarderOData", "LarderODataXML", "LarderHTTP",
        "LarderContent",
        "LarderObjects", "LarderStorage", onLinux("LarderServer"), "LarderTestSupport",
      ].compactMap { $0 }, swiftSettings: common),
    .testTarget(
      name: "LarderHTTPTests", dependencies: ["LarderHTTP", "LarderCore", "LarderTestSupport"], swiftSettings: common),
    .testTarget(
      name: "LarderODataTests", dependencies: ["LarderOData", "LarderHTTP", "LarderTestSupport"], swiftSettings: common),
    .testTarget(
      name: "LarderODataXMLTests", dependencies: ["LarderODataXML", "LarderOData", "LarderTestSupport"],
      swiftSettings: common
    ),
    .testTarget(
      name: "LarderGeneratorTests",
      dependencies: ["LarderGenerator", "LarderService", "LarderOData", "LarderODataXML", "LarderTestSupport"],
      swiftSettings: common),
    // A part of an application: the build plugin generates its types.
    .testTarget(
      name: "LarderPluginTests", dependencies: ["Larder", "LarderTesting"],
      exclude: ["shop.xml", "larder-generate.json"], swiftSettings: common,
      plugins: [.plugin(name: "LarderGeneratorPlugin")]),
    .testTarget(
      name: "TransportTests",
      dependencies: ["LarderCurl", "LarderURLSession", "LarderHTTP", "LarderTestSupport"], swiftSettings: common),
    .testTarget(
      name: "LarderStorageTests",
      dependencies: ["LarderStorage", "LarderCore", "LarderTestSupport", "LarderStorageRig"],
      swiftSettings: common),
    .executableTarget(
      name: "LarderStorageRig", dependencies: ["LarderStorage"], path: "Tests/LarderStorageRig", swiftSettings: common),
    .testTarget(
      name: "LarderServiceTests",
      dependencies: [
        "LarderService", "LarderOData", "LarderODataXML", "LarderHTTP", "LarderCore", "LarderCurl", "LarderTestSupport",
      ],
      swiftSettings: common),
    .testTarget(
      name: "LarderOnlineTests",
      dependencies: [
        "LarderOnline", "LarderService", "LarderOData", "LarderHTTP", "LarderStorage", "LarderCurl",
        "LarderTestSupport",
        "LarderCrashRig",
      ], swiftSettings: common),
    .testTarget(
      name: "LarderOfflineTests",
      dependencies: [
        "LarderOffline", "LarderService", "LarderOData", "LarderODataXML", "LarderHTTP", "LarderCore", "LarderStorage",
        "LarderCurl",
        "LarderTestSupport", "LarderCrashRig",
      ], swiftSettings: touchingC),
    .executableTarget(
      name: "LarderCrashRig",
      dependencies: [
        "LarderOnline", "LarderOffline", "LarderService", "LarderContent", "LarderObjects", "LarderHTTP",
        "LarderStorage",
        "LarderCurl",
      ],
      path: "Tests/LarderCrashRig",
      swiftSettings: common),
    .testTarget(
      name: "LarderContentTests",
      dependencies: [
        "LarderContent", "LarderHTTP", "LarderCore", "LarderStorage", "LarderCurl", "LarderTestSupport",
        "LarderCrashRig",
      ],
      swiftSettings: common),
    .testTarget(
      name: "LarderObjectsTests",
      dependencies: ["LarderObjects", "LarderCore", "LarderStorage", "LarderTestSupport", "LarderCrashRig"],
      swiftSettings: common),
    .testTarget(
      name: "LarderTestingTests",
      dependencies: [
        "LarderTesting", "LarderOnline", "LarderOffline", "LarderContent", "LarderObjects", "LarderService",
        "LarderOData", "LarderHTTP", "LarderCore", "LarderTestSupport",
      ], swiftSettings: common),
    .testTarget(
      name: "LarderCommandsTests",
      dependencies: [
        "LarderCommands", "LarderOffline", "LarderService", "LarderOData", "LarderHTTP", "LarderObjects",
        "LarderStorage", "LarderTestSupport",
      ],
      exclude: testsNotHere, swiftSettings: common),
    .testTarget(
      name: "IntegrationTests",
      dependencies: [
        "LarderOnline", "LarderOffline", "LarderContent", "LarderObjects", "LarderService", "LarderOData",
        "LarderODataXML",
        "LarderHTTP", "LarderCore",
        "LarderCurl", "LarderGenerator", "LarderTestSupport",
      ], swiftSettings: common),
    .testTarget(name: "ArchitectureTests", dependencies: ["LarderTestSupport"], swiftSettings: common),
  ]
)

#if os(Linux)
  package.products.append(.library(name: "LarderServer", targets: ["LarderServer"]))
  package.targets += [
    .systemLibrary(
      name: "CLarderMicroHTTPD", pkgConfig: pkgConfig("libmicrohttpd"), providers: [.apt(["libmicrohttpd-dev"])]),
    .target(
      name: "LarderServer", dependencies: ["LarderContent", "LarderHTTP", "LarderCore", "CLarderMicroHTTPD"],
      swiftSettings: touchingC),
    .testTarget(
      name: "LarderServerTests",
      dependencies: ["LarderServer", "LarderContent", "LarderHTTP", "LarderCore", "LarderCurl", "LarderTestSupport"],
      swiftSettings: common),
  ]
#endif
