/// The look-up tables of a model, built once and shared by its copies.
final class EdmIndex: Sendable {
  /// The position of a declaration: the indices of its schema and of the declaration.
  enum Declaration {
    case entityType(Int, Int)
    case complexType(Int, Int)
    case enumType(Int, Int)
    case typeDefinition(Int, Int)
    case container(Int, Int)
  }

  struct Place {
    let schema: Int
    let place: Int
  }

  let names: EdmNames
  let declarations: [String: Declaration]
  let terms: [String: Place]
  let associations: [String: Place]
  let functions: [String: [Place]]
  let actions: [String: [Place]]
  let structures: [String: EdmStructure]
  let annotations: [String: [EdmAnnotation]]
  let defaultContainer: Place?
  let entitySets: [String: EdmEntitySet]
  let singletons: [String: EdmSingleton]
  let functionImports: [String: EdmFunctionImport]
  let actionImports: [String: EdmActionImport]

  init(_ builder: EdmIndexBuilder) {
    names = builder.names
    declarations = builder.declarations
    terms = builder.terms
    associations = builder.associations
    functions = builder.functions
    actions = builder.actions
    structures = builder.structures
    annotations = builder.annotations
    defaultContainer = builder.defaultContainer
    entitySets = builder.entitySets
    singletons = builder.singletons
    functionImports = builder.functionImports
    actionImports = builder.actionImports
  }

  func declaration(_ name: String) -> Declaration? { declarations[name] ?? declarations[names.resolve(name)] }
}
