import Synchronization

/// A dictionary with a lock that evicts the least recently used value: the baseline of the memory tier.
final class LRUDictionary<Value: Sendable>: Sendable {
  private struct Node {
    let key: String
    var value: Value
    var newer: Int
    var older: Int
  }

  private struct State {
    var places: [String: Int] = [:]
    var nodes: [Node] = []
    var newest = -1
    var oldest = -1

    mutating func touch(_ place: Int) {
      guard place != newest else { return }
      let node = nodes[place]
      nodes[node.newer].older = node.older
      if node.older >= 0 { nodes[node.older].newer = node.newer } else { oldest = node.newer }
      nodes[place].newer = -1
      nodes[place].older = newest
      nodes[newest].newer = place
      newest = place
    }
  }

  private let state = Mutex(State())
  private let limit: Int

  init(limit: Int) { self.limit = limit }

  subscript(key: String) -> Value? {
    state.withLock { state in
      guard let place = state.places[key] else { return nil }
      state.touch(place)
      return state.nodes[place].value
    }
  }

  func put(_ value: Value, _ key: String) {
    state.withLock { state in
      if let place = state.places[key] {
        state.nodes[place].value = value
        state.touch(place)
        return
      }
      var place = state.nodes.count
      if place < limit {
        state.nodes.append(Node(key: key, value: value, newer: -1, older: state.newest))
        if state.newest >= 0 { state.nodes[state.newest].newer = place } else { state.oldest = place }
        state.newest = place
      } else {
        // Evicts the oldest value.
        place = state.oldest
        state.places[state.nodes[place].key] = nil
        state.touch(place)
        state.nodes[place] = Node(key: key, value: value, newer: -1, older: state.nodes[place].older)
      }
      state.places[key] = place
    }
  }
}
