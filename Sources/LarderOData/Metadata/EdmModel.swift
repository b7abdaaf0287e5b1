/// The model of a service: its `$metadata` document as values.
///
/// `EdmModel.read(_:)` in `LarderODataXML` reads CSDL XML (V1 to 4.01) and CSDL JSON.
/// Creating a model from schemas resolves aliases, numbers enumeration members, resolves V2 associations and
/// builds the look-up tables, once.
public struct EdmModel: Sendable, Hashable {
  /// The version of the document: V2 for `Edmx Version="1.0"` up to 2.0, V3, V4 or 4.01.
  public let version: ODataVersion
  /// V1 to V3: `m:DataServiceVersion` as written.
  package let dataServiceVersion: String?
  /// V3: `m:MaxDataServiceVersion` as written.
  package let maxDataServiceVersion: String?
  /// The documents that this one references.
  package let references: [EdmReference]
  /// The schemas in their order.
  public let schemas: [EdmSchema]
  /// The problems in the document that did not prevent reading it.
  public let diagnostics: [EdmDiagnostic]

  let index: EdmIndex

  /// Creates a model from schemas as parsed: names may be qualified by aliases, V2 navigation properties unresolved.
  package init(
    version: ODataVersion, dataServiceVersion: String? = nil, maxDataServiceVersion: String? = nil,
    references: [EdmReference] = [], schemas: [EdmSchema], diagnostics: [EdmDiagnostic] = []
  ) {
    self.version = version
    self.dataServiceVersion = dataServiceVersion
    self.maxDataServiceVersion = maxDataServiceVersion
    var resolver = EdmResolver(schemas: schemas, references: references)
    resolver.resolve()
    var references = references
    resolver.names.resolve(&references)
    self.references = references
    self.schemas = resolver.schemas
    var index = EdmIndexBuilder(schemas: resolver.schemas, names: resolver.names)
    self.index = index.build()
    self.diagnostics = diagnostics + resolver.diagnostics + index.diagnostics
  }

  /// Throws if a type derives from more types than are followed, because its properties would be incomplete.
  package func checkInheritance() throws(MetadataError) {
    guard let diagnostic = diagnostics.first(where: { $0.kind == .tooManyBaseTypes }) else { return }
    throw MetadataError(
      .tooDeep, diagnostic.message,
      cure: "Report it to the service: types that derive from more than 100 others are not supported",
      at: diagnostic.location)
  }

  /// Whether the documents have the same content (ignoring diagnostics).
  public static func == (left: EdmModel, right: EdmModel) -> Bool {
    left.version == right.version && left.dataServiceVersion == right.dataServiceVersion
      && left.maxDataServiceVersion == right.maxDataServiceVersion
      && left.references == right.references && left.schemas == right.schemas
  }

  /// Hashes only version and schema names, because a model is large.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(version)
    for schema in schemas { hasher.combine(schema.namespace) }
  }
}
