import Foundation
import LarderCore
import LarderObjects
import LarderTestSupport
import Testing

@Suite("An object store without a path", .timeLimit(.minutes(1)))
struct ObjectLocationTests {
  private func environment(_ variables: [String: String]) -> LarderEnvironment {
    var environment = LarderEnvironment.system
    environment.folders = ApplicationFolders(application: "app", variables: variables)
    return environment
  }

  @Test("It is in the folder for data, under the application's name, and the next store without a path opens it")
  func location() async throws {
    let home = try TemporaryFolder()
    let environment = environment(["XDG_DATA_HOME": home.path])
    let store = try await ObjectStore(environment: environment)
    #expect(store.path == home.file("app/objects/store.larder-objects"))
    try await store.put("value", forKey: "a")
    try await store.close()
    let again = try await ObjectStore(environment: environment)
    #expect(try await again.value(String.self, forKey: "a") == "value")
    try await again.close()
  }

  @Test("Without a home folder, opening throws and says what to do")
  func noHome() async throws {
    let error = await #expect(throws: ObjectStoreError.self) {
      _ = try await ObjectStore(environment: environment(["HOME": "relative"]))
    }
    guard case .storage(let reason)? = error?.category else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(reason.category == .noDefaultLocation)
    #expect(error?.explanation.cure == "Set HOME to the user's home folder, or give the store a path.")
  }
}
