/// The parts of a context URL (OData JSON Format 4.01 §10, Protocol §10): the kind and the type of the payload.
package struct ContextURL: Sendable, Hashable {
  /// The kind of payload that the last step names.
  package enum Item: Sendable, Hashable {
    /// No kind: a collection, singleton, property or type, depending on the path.
    case path
    /// `$entity`
    case entity
    /// `$delta`
    case delta
    /// `$deletedEntity`
    case deletedEntity
    /// `$link`
    case link
    /// `$deletedLink`
    case deletedLink
    /// `$ref`
    case reference
    /// `Collection($ref)`
    case references
  }

  /// One step of the path.
  package struct Step: Sendable, Hashable {
    /// The name of a set, singleton, property or type.
    package var name: String
    /// The text in the step's brackets: a key, or for the last step the select list.
    package var brackets: String?
  }

  /// The whole URL.
  package let text: String
  /// Whether there is a `#`. The context of a service document has none; some services omit it elsewhere too.
  package let hasFragment: Bool
  /// The path after `#`, without the item.
  package let path: [Step]
  /// The kind of content.
  package let item: Item
  /// The type in `Collection(…)`; nil for other contexts.
  package let collectionOf: String?

  /// Parses a URL; other URLs than context URLs have an empty path. A percent-encoded `#` is accepted.
  package init(_ text: String) {
    self.text = text
    let hash = text.firstRange(of: "#") ?? text.firstRange(of: "$metadata%23").map { $0.upperBound..<$0.upperBound }
    guard let hash else {
      hasFragment = false
      path = []
      item = .path
      collectionOf = nil
      return
    }
    hasFragment = true
    let fragment = text[hash.upperBound...]
    if fragment.hasPrefix("Collection("), fragment.hasSuffix(")") {
      let inner = fragment.dropFirst(11).dropLast()
      item = inner == "$ref" ? .references : .path
      collectionOf = inner == "$ref" ? nil : String(inner)
      path = []
      return
    }
    collectionOf = nil
    var steps = ContextURL.split(fragment)
    let lastItem: Item? =
      switch steps.last?.name {
      case "$entity"?, "@Element"?: .entity
      case "$delta"?: .delta
      case "$deletedEntity"?: .deletedEntity
      case "$link"?: .link
      case "$deletedLink"?: .deletedLink
      case "$ref"?: .reference
      default: nil
      }
    if lastItem != nil { steps.removeLast() }
    item = lastItem ?? .path
    path = steps
  }

  /// The names in the select list that have a nested list: expanded navigation properties.
  package var expanded: Set<String> {
    guard let list = path.last?.brackets else { return [] }
    var names: Set<String> = []
    var depth = 0
    var name = ""
    for character in list {
      switch character {
      case "(":
        if depth == 0, !name.isEmpty { names.insert(name.hasSuffix("+") ? String(name.dropLast()) : name) }
        depth += 1
      case ")": depth -= 1
      case "," where depth == 0: name = ""
      default: if depth == 0 { name.append(character) }
      }
    }
    return names
  }

  /// Splits at slashes outside brackets and quotes.
  private static func split(_ fragment: Substring) -> [Step] {
    var steps: [Step] = []
    var name = ""
    var brackets: String?
    var depth = 0
    var isQuoted = false
    for character in fragment {
      if character == "'" { isQuoted.toggle() }
      switch character {
      case "/" where depth == 0 && !isQuoted:
        steps.append(Step(name: name, brackets: brackets))
        (name, brackets) = ("", nil)
        continue
      case "(" where !isQuoted:
        depth += 1
        if depth == 1 {
          brackets = ""
          continue
        }
      case ")" where !isQuoted:
        depth -= 1
        if depth == 0 { continue }
      default: break
      }
      if depth > 0 { brackets?.append(character) } else { name.append(character) }
    }
    if !name.isEmpty || brackets != nil { steps.append(Step(name: name, brackets: brackets)) }
    return steps
  }
}
