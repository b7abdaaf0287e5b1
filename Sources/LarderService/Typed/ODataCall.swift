@_spi(Stores) import LarderHTTP
public import LarderOData

/// A call of an action or function: what the methods of generated types use.
public struct ODataCall: Sendable {
  /// Values by the names of parameters; nil is null, and in V2 and V3 no parameter.
  public typealias Arguments = [(name: String, value: (any ODataPrimitive)?)]

  private let store: any ODataStore
  private let path: ODataPath

  /// Creates a call of an import.
  public init(_ store: any ODataStore, _ name: String) {
    self.store = store
    path = ODataPath([ODataPathSegment(.name(name))])
  }

  init(_ store: any ODataStore, _ owner: ODataPath, _ name: String) {
    self.store = store
    path = ODataPath(root: owner.root, owner.segments + [ODataPathSegment(.qualifiedName(name))])
  }

  /// Calls a function of V4, with its parameters in the path; nil for the null value.
  public func function<Result: Decodable & Sendable>(
    _ type: Result.Type, _ parameters: Arguments
  ) async throws -> Result? {
    let arguments = parameters.map { ODataArgument(name: $0.name, value: ODataCall.expression($0.value)) }
    let path = ODataPath(root: path.root, path.segments + [ODataPathSegment(.arguments(arguments))])
    return try await store.read(type, store.text(ODataQuery<ODataUntyped>(path: path)))
  }

  /// Calls an action, with its parameters in the body; nil if it has no result.
  public func action<Result: Decodable & Sendable>(
    _ type: Result.Type, _ parameters: ODataPropertyList
  ) async throws -> Result? { try await PageReader(store).result(invoke(parameters)).decoded(type) }

  /// Calls an action without a result.
  public func action(_ parameters: ODataPropertyList) async throws { _ = try await invoke(parameters) }

  private func invoke(_ parameters: ODataPropertyList) async throws -> ODataSingleResponse {
    let path = try store.text(ODataQuery<ODataUntyped>(path: path))
    return try await store.execute(single: .invokeAction(path, parameters: parameters.properties))
  }

  /// Calls a function import of V2 or V3 by GET, with its parameters in the query; nil for the null value.
  public func queryFunction<Result: Decodable & Sendable>(
    _ type: Result.Type, _ parameters: Arguments
  ) async throws -> Result? { try await store.read(type, text(parameters)) }

  /// Calls a function import of V2 or V3 without a result by GET.
  public func queryFunction(_ parameters: Arguments) async throws {
    _ = try await store.execute(single: .invokeFunction(text(parameters)))
  }

  /// Calls a function import of V2 or V3 by POST, with its parameters in the query; nil for the null value.
  public func postedFunction<Result: Decodable & Sendable>(
    _ type: Result.Type, _ parameters: Arguments
  ) async throws -> Result? {
    try await PageReader(store).result(store.execute(single: .invokeAction(text(parameters)))).decoded(type)
  }

  /// Calls a function import of V2 or V3 without a result by POST.
  public func postedFunction(_ parameters: Arguments) async throws {
    _ = try await store.execute(single: .invokeAction(text(parameters)))
  }

  private func text(_ parameters: Arguments) throws -> String {
    var query = ODataQuery<ODataUntyped>(path: path)
    let printer = ODataPrinter(version: store.model?.version ?? .v2)
    for case (let name, let value?) in parameters {
      let text = try printer.print(value.odataExpression)
      // The query encodes the values of its options.
      query = query.custom(name, PercentEncoding.decode(text) ?? text)
    }
    return try store.text(query)
  }

  private static func expression(_ value: (any ODataPrimitive)?) -> ODataExpression {
    value?.odataExpression ?? ODataExpression(.literal(.null))
  }

  /// The result of an operation that always has one.
  public static func required<Result>(_ result: Result?) throws -> Result {
    guard let result else {
      throw ODataServiceError(.malformedResponse("the operation has no result"), operation: "call")
    }
    return result
  }
}

extension ODataEntityReference {
  /// A call of an operation that is bound to the entity, by its qualified name.
  public func odataCall(_ name: String) -> ODataCall { ODataCall(store, query.path, name) }
}

extension ODataEntitySet {
  /// A call of an operation that is bound to the entities, by its qualified name. Options of the query are not sent.
  public func odataCall(_ name: String) -> ODataCall { ODataCall(store, query.path, name) }
}
