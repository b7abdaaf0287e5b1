/// What a client may do with a property: the flags of `Org.OData.Core.V1.Permission`.
package struct EdmPermissions: Sendable, Hashable {
  /// Whether the value can be read.
  package var allowReading = true
  /// Whether the value can be written.
  package var allowWriting = true

  /// Allows everything.
  package init() {}

  /// Reads the names of members, or the number of the flags. Names are qualified and separated by white space in XML, and
  /// separated by commas in JSON. If a name is unknown, everything is allowed.
  package init(_ text: String) {
    let values = ["None": 0, "Read": 1, "Write": 2, "ReadWrite": 3, "Invoke": 4]
    var flags = 0
    let members = text.split { $0.isWhitespace || $0 == "," }
    guard !members.isEmpty else { return }
    for member in members {
      let name = String(member.split(separator: "/").last ?? "")
      guard let value = values[name] ?? Int(name) else { return }
      flags |= value
    }
    allowReading = flags & 1 != 0
    allowWriting = flags & 2 != 0
  }
}

extension EdmModel {
  /// The value of `Org.OData.Core.V1.Permissions` for a property, `NS.Type/Name`. A value that depends on the entity allows
  /// everything.
  package func permissions(target: String) -> EdmPermissions {
    let expression = annotation("Org.OData.Core.V1.Permissions", target: target)?.value?.expression
    guard case .constant(_, let text)? = expression else { return EdmPermissions() }
    return EdmPermissions(text)
  }
}
