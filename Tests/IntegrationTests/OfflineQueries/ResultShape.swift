import LarderOData

/// The values of a result, without members that only a server can know: context, links, ETags, deferred content.
///
/// V2 and V4 get the same shape: rows under `value`, the count as `@count`, an inline count as `Name@count`, a type's name as
/// `@type`, and for entity references the part after the service's root.
enum ResultShape {
  static func plain(_ node: JSONNode) -> JSONNode {
    guard let members = node.members else { return value(node) }
    if members.count == 1, members[0].name == "d" { return verbose(members[0].value) }
    return value(node)
  }

  /// The rows of a collection, or the one object.
  static func rows(of result: JSONNode) -> [JSONNode] { result["value"]?.items ?? [result] }

  private static func verbose(_ node: JSONNode) -> JSONNode {
    if let results = node["results"]?.items {
      var members = [JSONNode.Member("value", .array(results.map(value)))]
      if let count = node["__count"]?.text { members.append(.init("@count", .number(count))) }
      return .object(members)
    }
    if case .array(let items) = node { return .object([.init("value", .array(items.map(value)))]) }
    return value(node)
  }

  private static func value(_ node: JSONNode) -> JSONNode {
    switch node {
    case .array(let items): return .array(items.map(value))
    case .object(let members):
      if members.count <= 3, let results = node["results"]?.items, members.allSatisfy({ envelope.contains($0.name) }) {
        return .array(results.map(value))
      }
      return .object(object(members))
    default: return node
    }
  }

  private static let envelope: Set<String> = ["results", "__count", "__next", "__metadata"]

  private static func object(_ members: [JSONNode.Member]) -> [JSONNode.Member] {
    var remaining: [JSONNode.Member] = []
    let isReference = members.allSatisfy { $0.name.contains("@") }
    for member in members {
      guard let at = member.name.firstIndex(of: "@") else {
        if member.name == "__metadata" || member.value["__deferred"] != nil { continue }
        remaining.append(.init(member.name, value(member.value)))
        continue
      }
      let term = member.name[member.name.index(after: at)...].split(separator: ".").last ?? ""
      let owner = member.name[..<at]
      switch term {
      case "count": remaining.append(.init("\(owner)@count", member.value))
      case "type" where owner.isEmpty: if let name = typeName(member.value) { remaining.append(.init("@type", name)) }
      case "id" where isReference: remaining.append(.init("@id", reference(member.value)))
      default: break
      }
    }
    return remaining
  }

  private static func typeName(_ node: JSONNode) -> JSONNode? {
    guard let text = node.string else { return nil }
    let name = text.split(separator: "#").last.map(String.init) ?? text
    return name.hasPrefix("Collection(") || !name.contains(".") ? nil : .string(name)
  }

  /// The part of an entity-id that is the same on every server: the part after the last segment of the service's root.
  private static func reference(_ node: JSONNode) -> JSONNode {
    guard let text = node.string else { return node }
    // A set's name begins the last one or two segments; keys hold no unescaped slash.
    let segments = text.split(separator: "/")
    guard let first = segments.firstIndex(where: { $0.contains("(") }) else {
      return .string(segments.last.map(String.init) ?? text)
    }
    return .string(segments[first...].joined(separator: "/"))
  }
}
