internal import LarderOData

/// Formats a model for people: by schema, each type with its members in columns.
struct ModelText {
  private let port: OutputPort
  private let showsAnnotations: Bool
  private var lines = ""
  private var namespace = ""
  private var style: TextStyle { port.style }

  init(_ port: OutputPort, showsAnnotations: Bool) {
    self.port = port
    self.showsAnnotations = showsAnnotations
  }

  /// Writes the complete model.
  mutating func write(_ model: EdmModel) throws(OutputError) {
    line(0, label: style.bold("OData \(model.version.text)"), summary(model))
    for reference in model.references {
      let names = reference.includes.map { $0.namespace + ($0.alias.map { " as \($0)" } ?? "") }
      line(1, "reference \(reference.uri)\(names.isEmpty ? "" : "  includes " + names.joined(separator: ", "))")
    }
    for schema in model.schemas { try write(schema) }
    if !model.diagnostics.isEmpty {
      heading(0, "Diagnostics", "")
      for diagnostic in model.diagnostics { line(1, "\(diagnostic)") }
    }
    try flush(atLeast: 0)
  }

  private func summary(_ model: EdmModel) -> String {
    let types = model.schemas.reduce(0) { $0 + $1.entityTypes.count + $1.complexTypes.count }
    let sets = model.schemas.reduce(0) { $0 + $1.containers.reduce(0) { $0 + $1.entitySets.count } }
    var text = "  \(Counted.text(model.schemas.count, "schema")), \(Counted.text(types, "structured type"))"
    text += ", \(Counted.text(sets, "entity set"))"
    if !showsAnnotations {
      let annotations = AnnotationCount.of(model)
      if annotations > 0 { text += ", \(Counted.text(annotations, "annotation")) (--annotations shows them)" }
    }
    return text
  }

  private mutating func write(_ schema: EdmSchema) throws(OutputError) {
    namespace = schema.namespace
    heading(0, "schema", schema.namespace, notes: [schema.alias.map { "alias \($0)" }])
    annotations(of: schema, 1)
    for type in schema.entityTypes { try write(type) }
    for type in schema.complexTypes {
      heading(1, "complex type", type.name, notes: Self.notes(of: type, short))
      annotations(of: type, 2)
      try writeMembers(of: type, key: [])
    }
    for type in schema.enumTypes { try write(type) }
    for definition in schema.typeDefinitions {
      let type = TypeText.text(.primitive(definition.underlyingType), definition.facets, in: namespace)
      heading(1, "type definition", definition.name, notes: [type])
      annotations(of: definition, 2)
    }
    for function in schema.functions {
      let notes = [function.isBound ? "bound" : nil, function.isComposable ? "composable" : nil]
      operation(
        "function", function, name: function.name, parameters: function.parameters, returnType: function.returnType,
        notes: notes)
    }
    for action in schema.actions {
      let notes = [action.isBound ? "bound" : nil]
      operation(
        "action", action, name: action.name, parameters: action.parameters, returnType: action.returnType, notes: notes)
    }
    for term in schema.terms {
      let type = TypeText.text(term.type, term.facets, in: namespace)
      let applies = term.appliesTo.isEmpty ? nil : "applies to " + term.appliesTo.joined(separator: ", ")
      heading(1, "term", term.name, notes: [type, term.defaultValue.map { "= \($0)" }, applies])
      annotations(of: term, 2)
    }
    for container in schema.containers { try write(container) }
    for group in schema.annotationGroups where showsAnnotations {
      heading(1, "annotations of", short(group.target), notes: [group.qualifier.map { "#\($0)" }])
      for annotation in group.annotations { dimLine(2, AnnotationText.line(annotation)) }
    }
    try flush(atLeast: 0)
  }

  private mutating func write(_ type: EdmEntityType) throws(OutputError) {
    heading(1, "entity type", type.name, notes: Self.notes(of: type, short) + [type.hasStream ? "has stream" : nil])
    annotations(of: type, 2)
    try writeMembers(of: type, key: type.key)
  }

  private mutating func write(_ type: EdmEnumType) throws(OutputError) {
    let notes = [type.underlyingType.rawValue, type.isFlags ? "flags" : nil]
    heading(1, "enum type", type.name, notes: notes)
    annotations(of: type, 2)
    let width = Columns.width(type.members.map(\.name))
    for member in type.members {
      line(2, "  " + Columns.pad(member.name, width) + "  \(member.value)")
      annotations(of: member, 4)
    }
    try flush()
  }

  private static func notes(of type: some EdmStructuredType, _ short: (String) -> String) -> [String?] {
    [type.baseType.map { ": " + short($0) }, type.isAbstract ? "abstract" : nil, type.isOpen ? "open" : nil]
  }

  private mutating func writeMembers(of type: some EdmStructuredType, key: [EdmPropertyRef]) throws(OutputError) {
    let types = type.properties.map { TypeText.text($0.type, $0.facets, in: namespace) }
    let nameWidth = Columns.width(type.properties.map(\.name) + type.navigationProperties.map(\.name))
    let targets = type.navigationProperties.map { short($0.type.item.description) + " " + $0.multiplicity.rawValue }
    let typeWidth = Columns.width(types + targets)
    let keys = Set(key.map(\.path))
    for (property, text) in zip(type.properties, types) {
      let isKey = keys.contains(property.name)
      let notes = [
        isKey ? "key" : property.isNullable ? nil : "not null", property.defaultValue.map { "= \($0)" },
        property.concurrencyMode == .fixed ? "in ETag" : nil,
      ]
      let row = [Columns.pad(property.name, nameWidth), Columns.pad(text, typeWidth), Columns.notes(notes)]
      line(2, label: isKey ? style.bold("*") : " ", " " + row.joined(separator: "  "))
      annotations(of: property, 4)
    }
    for (property, target) in zip(type.navigationProperties, targets) {
      let constraints = property.referentialConstraints.map { "\($0.property) = \($0.referencedProperty)" }
      let notes = [
        property.containsTarget ? "contained" : nil, property.partner.map { "partner \($0)" },
        constraints.isEmpty ? nil : constraints.joined(separator: ", "),
        property.onDelete.map { "on delete \($0.action.lowercased())" },
      ]
      let row = [Columns.pad(property.name, nameWidth), Columns.pad(target, typeWidth), Columns.notes(notes)]
      line(2, "> " + row.joined(separator: "  "))
      annotations(of: property, 4)
    }
    let paths = key.filter { reference in !type.properties.contains { $0.name == reference.path } }
    for reference in paths {
      line(2, "* " + reference.path + (reference.alias.map { " as \($0)" } ?? "") + "  key")
    }
    try flush()
  }

  private mutating func operation(
    _ kind: String, _ element: some EdmElement, name: String, parameters: [EdmParameter],
    returnType: EdmReturnType?,
    notes: [String?]
  ) {
    let signature = TypeText.signature(parameters, returnType, in: namespace)
    heading(1, kind, name + signature, notes: notes, isSpaced: false)
    annotations(of: element, 2)
    for parameter in parameters { annotations(of: parameter, 4) }
  }

  private mutating func write(_ container: EdmEntityContainer) throws(OutputError) {
    heading(1, "container", container.name, notes: [container.extends.map { "extends \(short($0))" }])
    annotations(of: container, 2)
    let width = Columns.width(container.entitySets.map(\.name) + container.singletons.map(\.name))
    for set in container.entitySets {
      line(2, "set       " + Columns.pad(set.name, width) + "  " + short(set.entityType))
      bindings(set.navigationPropertyBindings)
      annotations(of: set, 4)
      try flush()
    }
    for singleton in container.singletons {
      line(2, "singleton " + Columns.pad(singleton.name, width) + "  " + short(singleton.type))
      bindings(singleton.navigationPropertyBindings)
      annotations(of: singleton, 4)
    }
    for item in container.functionImports {
      let target =
        item.function.map { "  " + short($0) } ?? TypeText.signature(item.parameters, item.returnType, in: namespace)
      let notes = [item.entitySet.map { "in \($0)" }, item.httpMethod]
      line(2, "function  " + item.name + target + Columns.notes(notes, gap: "  "))
      annotations(of: item, 4)
    }
    for item in container.actionImports {
      let notes = Columns.notes([item.entitySet.map { "in \($0)" }], gap: "  ")
      line(2, "action    " + item.name + "  " + short(item.action) + notes)
      annotations(of: item, 4)
    }
    try flush()
  }

  private mutating func bindings(_ bindings: [EdmNavigationPropertyBinding]) {
    for binding in bindings { line(4, "\(short(binding.path)) > \(binding.target)") }
  }

  private mutating func annotations(of element: some EdmElement, _ depth: Int) {
    guard showsAnnotations else { return }
    for attribute in element.foreignAttributes {
      dimLine(depth, "\(attribute.shortName)=\"\(attribute.value)\"")
    }
    for annotation in element.annotations { dimLine(depth, AnnotationText.line(annotation)) }
  }

  private mutating func heading(
    _ depth: Int, _ kind: String, _ name: String, notes: [String?] = [], isSpaced: Bool = true
  ) {
    if isSpaced { lines += "\n" }
    line(depth, label: style.bold(kind), " " + name + Columns.notes(notes, gap: "  "))
  }

  /// Names come from the document: control characters in them must not reach a terminal. `label` may be styled.
  private mutating func line(_ depth: Int, label: String = "", _ text: String) {
    lines += String(repeating: "  ", count: depth) + label
    lines += TerminalText.line(text)
    while lines.last == " " { lines.removeLast() }
    lines += "\n"
  }

  private mutating func dimLine(_ depth: Int, _ text: String) {
    line(depth, label: style.dim(TerminalText.line(text)), "")
  }

  private func short(_ name: String) -> String { TypeText.short(name, in: namespace) }

  private mutating func flush(atLeast size: Int = 1 << 15) throws(OutputError) {
    guard lines.utf8.count >= size else { return }
    try port.write(lines)
    lines = ""
  }
}
