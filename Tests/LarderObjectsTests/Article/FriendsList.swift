import Foundation
import LarderObjects

// The code of the article "A friends list that works offline". `ArticleCodeTests` checks that the article quotes it unchanged.

struct Profile: Codable, Sendable, Hashable {
  var id: Int
  var name: String
}

/// What the application asks its server for.
protocol SocialServer: Sendable {
  func friends() async throws -> [Profile]
  func photo(of id: Int) async throws -> Data
}

/// What the application shows.
protocol FriendsScreen: Sendable {
  func show(_ friends: [Profile], isCurrent: Bool) async
  func show(_ friend: Profile) async
  func remove(_ key: String) async
  func note(_ error: any Error) async
}

struct FriendsList: Sendable {
  let store: ObjectStore
  let server: any SocialServer

  func load(on screen: any FriendsScreen) async throws {
    let steps = store.stream([Profile].self, forKey: "friends") { [server] in try await server.friends() }
    for try await step in steps {
      switch step {
      case .cached(let friends): await screen.show(friends, isCurrent: false)
      case .fetched(let friends):
        await screen.show(friends, isCurrent: true)
        try await keep(friends)
      case .fetchFailed(let error): await screen.note(error)
      }
    }
  }

  func keep(_ friends: [Profile]) async throws {
    try await store.transaction { changes in
      let keys = Set(friends.map { "profile/\($0.id)" })
      for key in try changes.keys(.label("profile")) where !keys.contains(key) { try changes.removeValue(forKey: key) }
      for friend in friends {
        let labels = ["profile", "friend/\(friend.id)", "name/\(friend.name)"]
        try changes.put(friend, forKey: "profile/\(friend.id)", labels: labels)
      }
    }
  }

  func byName(limit: Int, after place: ObjectCursor? = nil) async throws -> ObjectPage<ObjectEntry<Profile>> {
    try await store.page(Profile.self, .labels(prefix: "name/"), limit: limit, after: place)
  }

  func photo(of friend: Profile) async throws -> Data {
    let key = "photo/\(friend.id)"
    if let photo = try await store.value(Data.self, forKey: key) { return photo }
    let photo = try await server.photo(of: friend.id)
    let nextWeek = Date(timeIntervalSinceNow: 7 * 86_400)
    try await store.put(photo, forKey: key, labels: ["friend/\(friend.id)"], expires: nextWeek)
    return photo
  }

  func follow(_ changes: ObjectChanges, on screen: any FriendsScreen) async throws {
    for await change in changes {
      switch change {
      case .put(let key):
        if let friend = try await store.value(Profile.self, forKey: key) { await screen.show(friend) }
      case .removed(let key), .expired(let key), .evicted(let key): await screen.remove(key)
      case .missed: await screen.show(try await store.values(Profile.self, label: "profile"), isCurrent: false)
      }
    }
  }

  func unfriend(_ friend: Profile) async throws {
    try await store.transaction { changes in
      let friends = try changes.value([Profile].self, forKey: "friends") ?? []
      try changes.put(friends.filter { $0.id != friend.id }, forKey: "friends")
      try changes.removeAll(label: "friend/\(friend.id)")
    }
  }

  func cleanUp() async throws {
    try await store.removeAll(notUpdatedSince: Date(timeIntervalSinceNow: -30 * 86_400))
  }

  func logOut() async throws { try await store.removeAll() }
}
