import Foundation
import LarderCore
import LarderStorage
import Testing

@Suite("Default locations of stores without a path", .timeLimit(.minutes(1)))
struct DefaultLocationTests {
  private func url(_ text: String) throws -> URL { try #require(URL(string: text)) }

  private func path(
    _ location: DefaultLocation, _ variables: [String: String], application: String = "app"
  ) throws -> String {
    try location.path(in: ApplicationFolders(application: application, variables: variables))
  }

  #if canImport(Darwin)
    private static let (data, caches) = ("Library/Application Support", "Library/Caches")
  #else
    private static let (data, caches) = (".local/share", ".cache")
  #endif

  @Test(
    "The XDG folder is used, otherwise the one in the home folder; relative and empty variables are ignored",
    arguments: [
      (["HOME": "/h"], "/h/\(data)", "/h/\(caches)"),
      (["HOME": "/h/"], "/h/\(data)", "/h/\(caches)"),
      (["HOME": "/"], "/\(data)", "/\(caches)"),
      (["HOME": "/h", "XDG_DATA_HOME": "/d", "XDG_CACHE_HOME": "/c/"], "/d", "/c"),
      (["XDG_DATA_HOME": "/d", "XDG_CACHE_HOME": "/c"], "/d", "/c"),
      (["HOME": "/h", "XDG_DATA_HOME": "d", "XDG_CACHE_HOME": ""], "/h/\(data)", "/h/\(caches)"),
    ])
  func folders(_ variables: [String: String], data: String, caches: String) throws {
    #expect(try path(.objectStore, variables) == data + "/app/objects/store.larder-objects")
    #expect(try path(.fileCache, variables) == caches + "/app/content")
    let service = try url("https://erp.example/s/")
    for (location, kind) in [(DefaultLocation.onlineStore(service), "online"), (.offlineStore(service), "offline")] {
      #expect(try path(location, variables).hasPrefix("\(data)/app/\(kind)/erp.example-"))
    }
  }

  @Test(
    "Without an absolute home folder there is no location: the error says which variables to set",
    arguments: [[:], ["HOME": ""], ["HOME": "h"], ["HOME": ".", "XDG_DATA_HOME": "d", "XDG_CACHE_HOME": "c"]])
  func noHome(_ variables: [String: String]) throws {
    let service = try url("https://erp.example/s/")
    let locations: [(DefaultLocation, String)] = [
      (.onlineStore(service), "XDG_DATA_HOME"), (.offlineStore(service), "XDG_DATA_HOME"),
      (.objectStore, "XDG_DATA_HOME"), (.fileCache, "XDG_CACHE_HOME"),
    ]
    for (location, variable) in locations {
      let error = #expect(throws: StorageError.self) { try path(location, variables) }
      #expect(error?.category == .noDefaultLocation && error?.message.contains(variable) == true)
      #expect(error?.explanation.cure == "Set HOME to the user's home folder, or give the store a path.")
    }
  }

  @Test("Two services, two kinds of stores and two applications never share a location, whatever the letter case")
  func distinct() throws {
    let services = try [
      "https://erp.example/s/", "https://erp.example/S/", "https://erp.example/t/", "http://erp.example/s/",
      "https://erp.example:8443/s/", "https://erp.example/s/?sap-client=100", "https://erp.example/s/?sap-client=200",
      "https://[::1]/s/",
    ].map(url)
    var paths: [String] = []
    for application in ["app", "App", "com.example.app"] {
      let locations =
        services.map(DefaultLocation.onlineStore) + services.map(DefaultLocation.offlineStore)
        + [.objectStore, .fileCache]
      paths += try locations.map { try path($0, ["HOME": "/h"], application: application) }
    }
    #expect(Set(paths.map { $0.lowercased() }).count == paths.count)
    #expect(!paths.contains { $0.contains("/..") || $0.contains("//") })
  }

  @Test("The locations of this process are outside of its current folder")
  func thisProcess() throws {
    let folders = ApplicationFolders.current
    #expect(folders.application == ApplicationFolders.name(ProcessInfo.processInfo.processName))
    #expect(LarderEnvironment.system.folders.application == folders.application)
    #expect(ApplicationFolders.name("orders (deleted)") == "orders" && ApplicationFolders.name("orders") == "orders")
    for folder in [folders.data, folders.caches].compactMap(\.self) { #expect(folder.hasPrefix("/")) }
  }
}
