internal import LarderOData

/// `Schema` and its children other than structured types (CSDL XML 4.01 §5, §10 to §12, §14).
enum CSDLSchemaGrammar {
  static func schema(_ element: inout CSDLElement, _ reading: CSDLReading) -> CSDLFrame {
    reading.enterSchema(element)
    let namespace = element.take("Namespace")
    if namespace == nil {
      reading.report(.missingAttribute, "the schema has no Namespace; its names are not qualified", at: element)
    }
    var schema = EdmSchema(namespace: namespace ?? "", alias: element.take("Alias"))
    schema.foreignAttributes = element.rest(reading)
    return ElementFrame("Schema", namespace, schema, grammar: child) { reading.schemas.append($0) }
  }

  private static func child(
    _ element: inout CSDLElement, _ frame: ElementFrame<EdmSchema>, _ reading: CSDLReading
  ) -> CSDLFrame? {
    let namespace = frame.element.namespace
    switch element.name {
    case "EntityType":
      return CSDLTypeGrammar.entityType(&element, namespace, reading) { frame.element.entityTypes.append($0) }
    case "ComplexType":
      return CSDLTypeGrammar.complexType(&element, namespace, reading) { frame.element.complexTypes.append($0) }
    case "EnumType":
      return enumType(&element, namespace, reading) { frame.element.enumTypes.append($0) }
    case "TypeDefinition":
      return typeDefinition(&element, namespace, reading) { frame.element.typeDefinitions.append($0) }
    case "Function":
      return CSDLOperationGrammar.function(&element, namespace, reading) { frame.element.functions.append($0) }
    case "Action":
      return CSDLOperationGrammar.action(&element, namespace, reading) { frame.element.actions.append($0) }
    case "Term", "ValueTerm":
      return term(&element, namespace, reading) { frame.element.terms.append($0) }
    case "EntityContainer":
      return CSDLContainerGrammar.container(&element, namespace, reading) { frame.element.containers.append($0) }
    case "Association":
      return CSDLAssociationGrammar.association(&element, namespace, reading) {
        frame.element.associations.append($0)
      }
    case "Annotations":
      return annotations(&element, reading) { frame.element.annotationGroups.append($0) }
    case "Using":
      return CSDLDocumentGrammar.include(&element, reading) { frame.element.usings.append($0) }
    default: return nil
    }
  }

  private static func annotations(
    _ element: inout CSDLElement, _ reading: CSDLReading, deliver: @escaping (EdmAnnotationGroup) -> Void
  ) -> CSDLFrame {
    guard let target = element.takeRequired("Target", reading) else { return SkippedFrame(element.name) }
    let group = EdmAnnotationGroup(target: target.trimmed, qualifier: element.take("Qualifier"))
    _ = element.rest(reading)
    return AnnotationGroupFrame(group, deliver: deliver)
  }

  private static func enumType(
    _ element: inout CSDLElement, _ namespace: String, _ reading: CSDLReading,
    deliver: @escaping (EdmEnumType) -> Void
  ) -> CSDLFrame {
    guard let name = element.takeRequired("Name", reading) else { return SkippedFrame(element.name) }
    var type = EdmEnumType(namespace: namespace, name: name)
    if let text = element.take("UnderlyingType") {
      if case .primitive(let underlying) = EdmTypeReference(text.trimmed) {
        type.underlyingType = underlying
      } else {
        reading.report(
          .invalidValue, "UnderlyingType=\"\(text)\" is not an integer type; Edm.Int32 is used", at: element)
      }
    }
    type.isFlags = element.takeBool("IsFlags", reading) ?? false
    type.foreignAttributes = element.rest(reading)
    return ElementFrame("EnumType", name, type, grammar: member, deliver: deliver)
  }

  private static func member(
    _ element: inout CSDLElement, _ frame: ElementFrame<EdmEnumType>, _ reading: CSDLReading
  ) -> CSDLFrame? {
    guard element.name == "Member" else { return nil }
    guard let name = element.takeRequired("Name", reading) else { return SkippedFrame(element.name) }
    let text = element.take("Value")
    let value = text.flatMap { Int64($0.trimmed) }
    if let text, value == nil {
      reading.report(.invalidValue, "Value=\"\(text)\" is not a 64-bit integer", at: element)
    }
    var member = EdmEnumMember(name: name, value: value ?? frame.element.nextMemberValue)
    member.foreignAttributes = element.rest(reading)
    return ElementFrame("Member", name, member) { frame.element.members.append($0) }
  }

  private static func typeDefinition(
    _ element: inout CSDLElement, _ namespace: String, _ reading: CSDLReading,
    deliver: @escaping (EdmTypeDefinition) -> Void
  ) -> CSDLFrame {
    guard let name = element.takeRequired("Name", reading),
      let text = element.takeRequired("UnderlyingType", reading)
    else { return SkippedFrame(element.name) }
    var definition = EdmTypeDefinition(namespace: namespace, name: name, underlyingType: .string)
    if case .primitive(let underlying) = EdmTypeReference(text.trimmed) {
      definition.underlyingType = underlying
    } else {
      reading.report(
        .invalidValue, "UnderlyingType=\"\(text)\" is not a primitive type; Edm.String is used", at: element)
    }
    definition.facets = element.takeFacets(reading)
    definition.foreignAttributes = element.rest(reading)
    return ElementFrame("TypeDefinition", name, definition, deliver: deliver)
  }

  private static func term(
    _ element: inout CSDLElement, _ namespace: String, _ reading: CSDLReading, deliver: @escaping (EdmTerm) -> Void
  ) -> CSDLFrame {
    guard let name = element.takeRequired("Name", reading) else { return SkippedFrame(element.name) }
    var term = EdmTerm(namespace: namespace, name: name, type: element.takeType() ?? .primitive(.string))
    term.nullable = element.takeBool("Nullable", reading)
    term.facets = element.takeFacets(reading)
    term.baseTerm = element.take("BaseTerm")
    term.defaultValue = element.take("DefaultValue")
    term.appliesTo = element.take("AppliesTo")?.split(separator: " ").map(String.init) ?? []
    term.foreignAttributes = element.rest(reading)
    return ElementFrame("Term", name, term, deliver: deliver)
  }
}

/// Reads `Annotations Target="…"`.
private final class AnnotationGroupFrame: CSDLFrame {
  private var group: EdmAnnotationGroup
  private let deliver: (EdmAnnotationGroup) -> Void

  init(_ group: EdmAnnotationGroup, deliver: @escaping (EdmAnnotationGroup) -> Void) {
    self.group = group
    self.deliver = deliver
    super.init("Annotations", group.target)
  }

  override func child(_ element: inout CSDLElement, _ reading: CSDLReading) -> CSDLFrame? {
    guard ["Annotation", "ValueAnnotation", "TypeAnnotation"].contains(element.name) else { return nil }
    return AnnotationGrammar.annotation(&element, reading) { self.group.annotations.append($0) }
  }

  override func end(_ reading: CSDLReading) { deliver(group) }
}
