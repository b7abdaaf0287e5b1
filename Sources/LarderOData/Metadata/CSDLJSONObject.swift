/// An object of a CSDL JSON document, with its members sorted by kind: `$…` control members, `@…` annotations, and
/// others.
///
/// Members that were read are marked; ``rest(_:)`` returns the remaining control members, which are unknown.
struct CSDLJSONObject {
  /// A member that is neither control member nor annotation: a property, an enumeration member, a declaration.
  struct Child {
    let name: String
    let value: JSONNode
    /// The annotations of the member, which are written next to it (`Name@Term`).
    var annotations: [EdmAnnotation] = []
  }

  let path: String
  let annotations: [EdmAnnotation]
  private(set) var children: [Child] = []
  let controlAnnotations: [String: [EdmAnnotation]]
  private var controls: [(name: String, value: JSONNode)] = []
  private var taken: Set<String> = []

  init(_ members: [JSONNode.Member], path: String, _ reading: inout CSDLJSONReading) {
    self.path = path
    var ownAnnotations = CSDLJSONAnnotations()
    var onControls: [String: CSDLJSONAnnotations] = [:]
    var annotationsByChild: [String: CSDLJSONAnnotations] = [:]
    for member in reading.distinct(members, at: path) {
      guard let at = member.name.utf8.firstIndex(of: 0x40) else {
        if member.name.hasPrefix("$") {
          controls.append((member.name, member.value))
        } else {
          children.append(Child(name: member.name, value: member.value))
        }
        continue
      }
      let owner = String(member.name[..<at])
      let name = member.name[member.name.index(after: at)...]
      if owner.isEmpty {
        reading.annotate(&ownAnnotations, name, member.value, at: path)
      } else if owner.hasPrefix("$") {
        reading.annotate(&onControls[owner, default: CSDLJSONAnnotations()], name, member.value, at: path)
      } else {
        reading.annotate(&annotationsByChild[owner, default: CSDLJSONAnnotations()], name, member.value, at: path)
      }
    }
    annotations = ownAnnotations.annotations
    controlAnnotations = onControls.mapValues(\.annotations)
    guard !annotationsByChild.isEmpty else { return }
    for place in children.indices {
      if let childAnnotations = annotationsByChild.removeValue(forKey: children[place].name) {
        children[place].annotations = childAnnotations.annotations
      }
    }
    for owner in annotationsByChild.keys.sorted() {
      reading.report(.unresolvedName, "there is no \(owner) to annotate", at: path)
    }
  }

  /// The value of a control member; nil if it is absent.
  mutating func take(_ name: String) -> JSONNode? {
    guard let control = controls.first(where: { $0.name == name }) else { return nil }
    taken.insert(name)
    return control.value
  }

  mutating func string(_ name: String, _ reading: inout CSDLJSONReading) -> String? {
    guard let value = take(name) else { return nil }
    if let text = value.text { return text }
    reading.report(.invalidValue, "\(name) is not a string", at: path)
    return nil
  }

  mutating func bool(_ name: String, _ reading: inout CSDLJSONReading) -> Bool? {
    guard let value = take(name) else { return nil }
    if case .boolean(let flag) = value { return flag }
    if value.text == "true" { return true }
    if value.text == "false" { return false }
    reading.report(.invalidValue, "\(name) is neither true nor false", at: path)
    return nil
  }

  mutating func number(_ name: String, _ reading: inout CSDLJSONReading) -> Int? {
    guard let value = take(name) else { return nil }
    if let number = value.text.flatMap({ Int($0) }), number >= 0 { return number }
    reading.report(.invalidValue, "\(name) is not a usable number", at: path)
    return nil
  }

  /// The items of an array; none, with a diagnostic if it is not an array.
  mutating func items(_ name: String, _ reading: inout CSDLJSONReading) -> [JSONNode] {
    guard let value = take(name) else { return [] }
    if let items = value.items { return items }
    reading.report(.invalidValue, "\(name) is not an array", at: path)
    return []
  }

  /// The members of an object, each name once; none, with a diagnostic if it is not an object.
  mutating func members(_ name: String, _ reading: inout CSDLJSONReading) -> [JSONNode.Member] {
    guard let value = take(name) else { return [] }
    if let members = value.members { return reading.distinct(members, at: path + "/" + name) }
    reading.report(.invalidValue, "\(name) is not an object", at: path)
    return []
  }

  /// Reads `$Type` and `$Collection`; the type is `Edm.String` if it is omitted (§7.1).
  mutating func type(_ reading: inout CSDLJSONReading, default text: String = "Edm.String") -> EdmTypeReference {
    let type = EdmTypeReference(string("$Type", &reading) ?? text)
    return bool("$Collection", &reading) ?? false ? .collection(type.item) : type
  }

  /// Reads the facets of a type; words may be in any letter case (§7.2). If the type is given, an omitted `$Scale`
  /// means `variable` (§7.2.4); a cast has only the facets that it names.
  mutating func facets(of type: EdmTypeReference?, _ reading: inout CSDLJSONReading) -> EdmFacets {
    var facets = EdmFacets()
    if let value = take("$MaxLength") {
      if value.text?.lowercased() == "max" {
        facets.maxLength = .max
      } else {
        facets.maxLength = number("$MaxLength", &reading).map { .limit($0) }
      }
    }
    facets.precision = number("$Precision", &reading)
    let scale = take("$Scale")
    switch scale?.text?.lowercased() {
    case "variable": facets.scale = .variable
    case "floating": facets.scale = .floating
    case nil where scale == nil: if type?.item == .primitive(.decimal) { facets.scale = .variable }
    default: facets.scale = number("$Scale", &reading).map { .digits($0) }
    }
    facets.isUnicode = bool("$Unicode", &reading)
    let srid = take("$SRID")
    switch srid?.text?.lowercased() {
    case "variable": facets.srid = .variable
    case nil where srid == nil: break
    default: facets.srid = number("$SRID", &reading).map { .reference($0) }
    }
    return facets
  }

  /// The control members that were not read. Reports a diagnostic for each.
  func rest(_ reading: inout CSDLJSONReading) -> [EdmForeignAttribute] {
    var rest: [EdmForeignAttribute] = []
    for control in controls where !taken.contains(control.name) {
      reading.report(.unknownAttribute, "\(control.name) is not known here", at: path)
      var writer = JSONWriter()
      writer.node(control.value)
      let text = control.value.text ?? String(decoding: writer.bytes, as: UTF8.self)
      rest.append(EdmForeignAttribute(namespace: "", name: control.name, value: text))
    }
    return rest
  }
}
