/// Gives each of several names a Swift name of its own, always the same ones for the same input.
struct NameTable {
  private var taken: Set<String>

  /// A table in which some names are taken: those of types, which members in scripts without case could hide.
  init(taken: Set<String> = []) { self.taken = taken }

  /// Takes the first candidate that is free, or else the first candidate with the lowest number that is free.
  mutating func take(_ candidates: [String]) -> String {
    for candidate in candidates where taken.insert(candidate).inserted { return candidate }
    let base = candidates.first ?? "_"
    let separator = base.last?.isNumber == true ? "_" : ""
    var number = 2
    while !taken.insert("\(base)\(separator)\(number)").inserted { number += 1 }
    return "\(base)\(separator)\(number)"
  }

  /// Swift names for members of one type, in their order. Members whose Swift name is their own name come first, so
  /// that `name` keeps its name beside `Name`.
  mutating func members(_ members: [(name: String, candidates: [String])]) -> [String] {
    var names = [String?](repeating: nil, count: members.count)
    for (place, member) in members.enumerated() where member.candidates.first == member.name {
      names[place] = take(member.candidates)
    }
    return members.indices.map { names[$0] ?? take(members[$0].candidates) }
  }
}

extension NameTable {
  /// The candidates for a structural property.
  static func property(_ name: String) -> [String] {
    let member = SwiftIdentifier.member(name)
    return SwiftKeywords.properties.contains(member) ? [member + "Property"] : [member]
  }

  /// The candidates for a navigation property: it begins with `to` beside a structural property of the same name, and if
  /// entity sets or entities of typed stores have a member of that name, which would hide it.
  static func navigation(_ name: String) -> [String] {
    let candidates = property(name) + [SwiftIdentifier.member("to", then: name)]
    return candidates.filter { !SwiftKeywords.methods.contains($0) }
  }

  /// The candidates for a parameter of a method.
  static func parameter(_ name: String) -> [String] {
    let member = SwiftIdentifier.member(name)
    if member == "_" { return ["parameter"] }
    return SwiftKeywords.parameters.contains(member) ? [member + "Parameter"] : [member]
  }

  /// The candidates for an entity set or singleton of a service.
  static func set(_ name: String) -> [String] {
    let member = SwiftIdentifier.viewMember(name)
    return [member, SwiftIdentifier.member(name)].map { SwiftKeywords.services.contains($0) ? $0 + "Set" : $0 }
  }

  /// The candidates for a member of an enumeration.
  static func enumerationMember(_ name: String) -> [String] {
    let member = SwiftIdentifier.member(name)
    return SwiftKeywords.enumerationMembers.contains(member) ? [member + "Member"] : [member]
  }
}
