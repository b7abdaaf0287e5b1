import Foundation
import LarderObjects
import LarderTestSupport
import Synchronization
import Testing

@Suite("The friends list of the article", .timeLimit(.minutes(5)))
struct FriendsListTests {
  /// A server with responses that the test sets.
  final class Server: SocialServer {
    struct Unreachable: Error {}

    let response = Mutex<Result<[Profile], any Error>>(.failure(Unreachable()))
    let photos = Mutex(0)

    func say(_ friends: [Profile]) { response.withLock { $0 = .success(friends) } }
    func fail(_ error: any Error) { response.withLock { $0 = .failure(error) } }

    func friends() async throws -> [Profile] { try response.withLock { try $0.get() } }

    func photo(of id: Int) async throws -> Data {
      photos.withLock { $0 += 1 }
      return Data("photo of \(id)".utf8)
    }
  }

  /// A screen that records as text what it shows, and whose events can be awaited.
  final class Screen: FriendsScreen {
    private let said = Mutex<[String]>([])
    let events: AsyncStream<String>
    private let messages: AsyncStream<String>.Continuation

    init() { (events, messages) = AsyncStream.makeStream() }

    /// The events since the last call.
    func take() -> [String] {
      said.withLock { said in
        defer { said = [] }
        return said
      }
    }

    private func say(_ text: String) {
      said.withLock { $0.append(text) }
      messages.yield(text)
    }

    func show(_ friends: [Profile], isCurrent: Bool) async {
      say("\(isCurrent ? "now" : "here"): \(friends.map(\.name).joined(separator: " "))")
    }
    func show(_ friend: Profile) async { say("one: \(friend.name)") }
    func remove(_ key: String) async { say("gone: \(key)") }
    func note(_ error: any Error) async { say("note: \(error is Server.Unreachable)") }
  }

  static let ada = Profile(id: 1, name: "Ada")
  static let bob = Profile(id: 2, name: "Bob")
  static let eve = Profile(id: 3, name: "Eve")

  @Test("The stored list is shown at once, then the server's; without a server the stored one remains")
  func load() async throws {
    try await ObjectRig().with { store in
      let (server, screen) = (Server(), Screen())
      let list = FriendsList(store: store, server: server)
      let nothing = await reason { try await list.load(on: screen) }
      guard case .absent = nothing?.category else {
        Issue.record("\(String(describing: nothing))")
        return
      }
      #expect(screen.take() == [])
      server.say([Self.bob, Self.ada])
      try await list.load(on: screen)
      #expect(screen.take() == ["now: Bob Ada"])
      server.say([Self.bob, Self.eve])
      try await list.load(on: screen)
      #expect(screen.take() == ["here: Bob Ada", "now: Bob Eve"])
      server.fail(Server.Unreachable())
      try await list.load(on: screen)
      #expect(screen.take() == ["here: Bob Eve", "note: true"])
      server.fail(ObjectStoreError.gone)
      let gone = await reason { try await list.load(on: screen) }
      guard case .gone = gone?.category else {
        Issue.record("\(String(describing: gone))")
        return
      }
      #expect(try await store.value([Profile].self, forKey: "friends") == nil)
    }
  }

  @Test("Profiles are stored one by one, those of former friends are deleted, and pages are ordered by name")
  func profiles() async throws {
    try await ObjectRig().with { store in
      let list = FriendsList(store: store, server: Server())
      try await list.keep([Self.eve, Self.ada])
      try await list.keep([Self.bob, Self.eve])
      try await list.keep([Self.ada, Self.bob, Self.eve])
      let first = try await list.byName(limit: 2)
      #expect(first.items.map(\.value.name) == ["Ada", "Bob"])
      let second = try await list.byName(limit: 2, after: first.next)
      #expect(second.items.map(\.value.name) == ["Eve"] && second.next == nil)
      try await list.keep([Self.bob])
      #expect(try await store.keys() == ["profile/2"])
    }
  }

  @Test("A photo is requested once, and a friend's profile, photo and list entry are deleted together")
  func photos() async throws {
    try await ObjectRig().with { store in
      let server = Server()
      let list = FriendsList(store: store, server: server)
      server.say([Self.ada, Self.bob])
      try await list.load(on: Screen())
      for _ in 0..<2 { #expect(try await list.photo(of: Self.ada) == Data("photo of 1".utf8)) }
      #expect(server.photos.withLock { $0 } == 1)
      try await list.unfriend(Self.ada)
      #expect(try await store.keys() == ["friends", "profile/2"])
      #expect(try await store.value([Profile].self, forKey: "friends") == [Self.bob])
    }
  }

  @Test("Changes are shown as they happen")
  func follow() async throws {
    try await ObjectRig().with { store in
      let (list, screen) = (FriendsList(store: store, server: Server()), Screen())
      let changes = try store.changes(label: "profile")
      let following = Task { try await list.follow(changes, on: screen) }
      var events = screen.events.makeAsyncIterator()
      try await list.keep([Self.ada])
      #expect(await events.next() == "one: Ada")
      try await list.unfriend(Self.ada)
      #expect(await events.next() == "gone: profile/1")
      following.cancel()
      try await following.value
    }
  }

  @Test("Clean-up deletes values not written for a month, and logging out deletes everything")
  func cleanUp() async throws {
    let rig = try ObjectRig()
    rig.clock.advance(Date().timeIntervalSince1970 - rig.clock.now.timeIntervalSince1970 - 40 * 86_400)
    try await rig.with { store in
      let list = FriendsList(store: store, server: Server())
      try await store.put("old", forKey: "old")
      rig.clock.advance(20 * 86_400)
      try await store.put("new", forKey: "new")
      try await list.cleanUp()
      #expect(try await store.keys() == ["new"])
      try await list.logOut()
      #expect(try await store.count == 0)
    }
  }
}
