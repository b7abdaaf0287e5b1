/// Gives methods of one type Swift names, always the same ones for the same input. Overloads share a name if their
/// parameters differ in Swift.
struct MethodNames {
  private let properties: Set<String>
  private var signatures: [String: Set<[String]>] = [:]

  /// Names for the methods of a type with properties.
  init(properties: some Sequence<String>) { self.properties = Set(properties) }

  /// Takes a name for a method with labels and types of parameters: that of the operation, or one with its namespace, or
  /// one with the lowest number that is free.
  mutating func take(_ operation: String, namespace: String, signature: [String]) -> String {
    let member = SwiftIdentifier.viewMember(operation)
    let isReserved = SwiftKeywords.methods.contains(member) || properties.contains(member)
    let base = isReserved ? member + "Operation" : member
    let space = String(namespace.split(separator: ".").last ?? "")
    let qualified = SwiftIdentifier.member(space, then: operation)
    for candidate in space.isEmpty ? [base] : [base, qualified] where isFree(candidate, signature) {
      return candidate
    }
    let separator = base.last?.isNumber == true ? "_" : ""
    var number = 2
    while !isFree("\(base)\(separator)\(number)", signature) { number += 1 }
    return "\(base)\(separator)\(number)"
  }

  /// Whether a name can be taken for a signature; takes it if so.
  private mutating func isFree(_ name: String, _ signature: [String]) -> Bool {
    !properties.contains(name) && signatures[name, default: []].insert(signature).inserted
  }
}
