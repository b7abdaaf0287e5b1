/// A pattern for names of types and entity sets: `*` is any text, `?` any character.
package struct NamePattern: Sendable, Hashable {
  /// The pattern as it was given.
  package let text: String
  private let characters: [Character]

  /// Creates a pattern.
  package init(_ text: String) {
    self.text = text
    characters = Array(text)
  }

  /// Whether the whole name matches, or its part after the last dot.
  package func matches(_ name: String) -> Bool {
    let short = name.lastIndex(of: ".").map { name[name.index(after: $0)...] }
    return matches(Array(name)) || short.map { matches(Array($0)) } == true
  }

  private func matches(_ name: [Character]) -> Bool {
    var (place, position) = (0, 0)
    var retry: (place: Int, position: Int)?
    while position < name.count {
      if place < characters.count, characters[place] == "*" {
        retry = (place + 1, position)
        place += 1
      } else if place < characters.count, characters[place] == "?" || characters[place] == name[position] {
        place += 1
        position += 1
      } else if let last = retry {
        retry = (last.place, last.position + 1)
        (place, position) = (last.place, last.position + 1)
      } else {
        return false
      }
    }
    return characters[place...].allSatisfy { $0 == "*" }
  }
}
