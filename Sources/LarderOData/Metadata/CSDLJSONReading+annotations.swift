// Annotations and their expressions (CSDL JSON 4.01 §14). Recursion is limited by the depth of the JSON tree.
extension CSDLJSONReading {
  /// A name has fewer terms than this (`Term@Term@…`).
  private static let nesting = 8

  /// Adds the annotation `@name`: a term with an optional `#qualifier`, or `Term@OnTerm`, an annotation on an annotation.
  mutating func annotate(
    _ annotations: inout CSDLJSONAnnotations, _ name: Substring, _ value: JSONNode, at path: String
  ) {
    let steps = name.split(separator: "@", maxSplits: CSDLJSONReading.nesting, omittingEmptySubsequences: false)
    guard steps.count < CSDLJSONReading.nesting, steps.allSatisfy({ !$0.isEmpty }) else {
      return report(.invalidValue, "@\(name.prefix(80)) is not the name of an annotation", at: path)
    }
    annotations.enter(steps[...], expression(value, at: path + "/@" + name))
  }

  mutating func expression(_ value: JSONNode, at path: String) -> EdmExpression {
    switch value {
    case .null: return .null
    case .boolean(let flag): return .constant(.bool, flag ? "true" : "false")
    case .string(let text): return .constant(.string, text)
    case .number(let text):
      if !text.utf8.contains(where: { $0 == 0x2E || $0 | 0x20 == 0x65 }) { return .constant(.int, text) }
      return .constant(text.utf8.contains { $0 | 0x20 == 0x65 } ? .float : .decimal, text)
    case .array(let items): return .collection(items.map { expression($0, at: path) })
    case .object(let all):
      let members = distinct(all, at: path)
      var object = CSDLJSONObject(members, path: path, &self)
      guard let dynamic = dynamic(&object) else { return record(members, path) }
      for attribute in object.rest(&self) {
        report(.unknownElement, "\(attribute.name) was ignored", at: path)
      }
      return object.annotations.isEmpty ? dynamic : .annotated(dynamic, object.annotations)
    }
  }

  private mutating func expressions(_ value: JSONNode, at path: String) -> [EdmExpression] {
    value.items.map { items in items.map { expression($0, at: path) } } ?? [expression(value, at: path)]
  }

  /// Reads the expression of a `$…` member; nil for a record.
  private mutating func dynamic(_ object: inout CSDLJSONObject) -> EdmExpression? {
    let path = object.path
    for (name, operation) in CSDLJSONReading.operators {
      if let operands = object.take(name) { return .operation(operation, expressions(operands, at: path)) }
    }
    if let text = object.string("$Path", &self) { return .path(.value, text) }
    if let arguments = object.take("$Apply") {
      return .apply(function: object.string("$Function", &self) ?? "", expressions(arguments, at: path))
    }
    if let value = object.take("$Cast") {
      return .cast(object.type(&self), object.facets(of: nil, &self), expression(value, at: path))
    }
    if let value = object.take("$IsOf") {
      return .isOf(object.type(&self), object.facets(of: nil, &self), expression(value, at: path))
    }
    if let parts = object.take("$If") { return .conditional(expressions(parts, at: path)) }
    if let value = object.take("$LabeledElement") {
      return .labeledElement(name: object.string("$Name", &self) ?? "", expression(value, at: path))
    }
    if let name = object.string("$LabeledElementReference", &self) { return .labeledElementReference(name) }
    if object.take("$Null") != nil { return .null }
    if let value = object.take("$UrlRef") { return .urlRef(expression(value, at: path)) }
    return nil
  }

  /// A record: its type in `@type` (a URL whose fragment is the name), annotations next to its properties.
  private mutating func record(_ members: [JSONNode.Member], _ path: String) -> EdmExpression {
    var type: String?
    let others = members.filter { member in
      guard member.name == "@type" || member.name == "@odata.type" else { return true }
      type = member.value.string.map { text in
        String(text[(text.lastIndex(of: "#").map { text.index(after: $0) } ?? text.startIndex)...])
      }
      return false
    }
    let object = CSDLJSONObject(others, path: path, &self)
    for attribute in object.rest(&self) {
      report(.unknownElement, "\(attribute.name) is not a known expression", at: path)
    }
    let values = object.children.map { child in
      var value = EdmPropertyValue(
        property: child.name, value: expression(child.value, at: path + "/" + child.name))
      value.annotations = child.annotations
      return value
    }
    let record = EdmExpression.record(type: type, values)
    return object.annotations.isEmpty ? record : .annotated(record, object.annotations)
  }

  private static let operators: [(String, EdmOperator)] = EdmOperator.allCases.map { ("$" + $0.rawValue, $0) }
}
