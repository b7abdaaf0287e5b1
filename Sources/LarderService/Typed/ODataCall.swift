@_spi(Stores) import LarderHTTP
public import LarderOData

/// A call of an action or function: what the methods of generated types use.
public struct ODataCall: Sendable {
  /// Values by the names of parameters; nil is null, and in V2 and V3 no parameter.
  public typealias Arguments = [(name: String, value: (any ODataConvertible)?)]

  private let store: any ODataStore
  private let path: ODataPath

  /// Creates a call of an import.
  public init(_ store: any ODataStore, _ name: String) {
    self.store = store
    path = ODataPath([ODataPathSegment(.name(name))])
  }

  init(_ store: any ODataStore, _ owner: ODataPath, _ name: String) {
    self.store = store
    // The name of a function import of V3 need not be qualified.
    let segment = ODataPathSegment(name.contains(".") ? .qualifiedName(name) : .name(name))
    path = ODataPath(root: owner.root, owner.segments + [segment])
  }

  /// Calls a function of V4, with its parameters in the URL; nil for the null value.
  public func function<Result: Decodable & Sendable>(
    _ type: Result.Type, _ parameters: Arguments
  ) async throws -> Result? { try await store.read(type, url(parameters)) }

  /// Calls a function of V4 whose result is a stream, and reads its bytes into memory; nil for the null value.
  public func mediaFunction(_ parameters: Arguments) async throws -> [UInt8]? {
    try await store.execute(single: .readMedia(url(parameters))).stream
  }

  /// The URL of a function of V4: primitive parameters are in the path, others are JSON behind aliases (URL Conventions
  /// 4.01 §5.1.1.14, §5.3).
  private func url(_ parameters: Arguments) throws -> String {
    var arguments: [ODataArgument] = []
    var aliases: [ODataAlias] = []
    for (name, value) in parameters {
      var expression = ODataExpression(.literal(.null))
      if let primitive = value as? any ODataPrimitive {
        expression = primitive.odataExpression
      } else if let value = value?.odataValue, value != .null {
        let alias = ODataAlias(name: "p\(aliases.count + 1)", value: try json(value, name))
        aliases.append(alias)
        expression = ODataExpression(.path(ODataPath(root: .alias(alias.name), [])))
      }
      arguments.append(ODataArgument(name: name, value: expression))
    }
    let path = ODataPath(root: path.root, path.segments + [ODataPathSegment(.arguments(arguments))])
    var query = ODataQuery<ODataUntyped>(path: path)
    query.options.aliases = aliases
    return try store.text(query)
  }

  /// A value as JSON in a URL.
  private func json(_ value: ODataValue, _ name: String) throws -> ODataExpression {
    let writer = ODataPayloadWriter(version: store.model?.version ?? .v4, model: store.model)
    do {
      let members = try JSONNode(writer.parameters([ODataProperty(name, value)])).members ?? []
      return ODataExpression(json: members.first { $0.name == name }?.value ?? .null)
    } catch { throw ODataServiceError(.invalidRequest("\(error)"), operation: "call", cause: error) }
  }

  /// Calls an action, with its parameters in the body; nil if it has no result.
  public func action<Result: Decodable & Sendable>(
    _ type: Result.Type, _ parameters: ODataPropertyList
  ) async throws -> Result? { try await ResultReader(store).result(invoke(parameters)).decoded(type) }

  /// Calls an action without a result.
  public func action(_ parameters: ODataPropertyList) async throws { _ = try await invoke(parameters) }

  /// Calls an action whose result is a stream, and reads its bytes into memory; nil for the null value.
  public func mediaAction(_ parameters: ODataPropertyList) async throws -> [UInt8]? {
    try await invoke(parameters, accept: "*/*").stream
  }

  private func invoke(_ parameters: ODataPropertyList, accept: String? = nil) async throws -> ODataSingleResponse {
    var request = try request(parameters)
    if let accept { request.fields[.accept] = accept }
    return try await store.execute(single: request)
  }

  private func request(_ parameters: ODataPropertyList) throws -> ODataSingleRequest {
    let path = try store.text(ODataQuery<ODataUntyped>(path: path))
    guard !parameters.entities.isEmpty else { return .invokeAction(path, parameters: parameters.properties) }
    // Members of one object, like those of an entity (JSON Format 4.01 §18).
    let body = ODataEntity(properties: parameters.properties, navigationLinks: parameters.entities)
    return ODataSingleRequest(.invokeAction, path, body: .entity(body))
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
    try await ResultReader(store).result(store.execute(single: .invokeAction(text(parameters)))).decoded(type)
  }

  /// Calls a function import of V2 or V3 without a result by POST.
  public func postedFunction(_ parameters: Arguments) async throws {
    _ = try await store.execute(single: .invokeAction(text(parameters)))
  }

  private func text(_ parameters: Arguments) throws -> String {
    var query = ODataQuery<ODataUntyped>(path: path)
    let printer = ODataPrinter(version: store.model?.version ?? .v2)
    for case (let name, let value?) in parameters {
      guard let primitive = value as? any ODataPrimitive else {
        throw ODataServiceError(
          .notSupported("a parameter of a function import that is no primitive value ('\(name)')"), operation: "call")
      }
      let text = try printer.print(primitive.odataExpression)
      // The query encodes the values of its options.
      query = query.custom(name, PercentEncoding.decode(text) ?? text)
    }
    return try store.text(query)
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
  /// A call of an operation that is bound to the entity, by its qualified name, or in V3 by that of its import.
  public func odataCall(_ name: String) -> ODataCall { ODataCall(store, query.path, name) }
}

extension ODataEntitySet {
  /// A call of an operation that is bound to the entities, by its qualified name, or in V3 by that of its import.
  /// Options of the query are not sent.
  public func odataCall(_ name: String) -> ODataCall { ODataCall(store, query.path, name) }
}

extension ODataExpression {
  /// A JSON value in a URL (URL Conventions 4.01 §5.1.1.14).
  fileprivate init(json: JSONNode) {
    switch json {
    case .null: self.init(.literal(.null))
    case .boolean(let value): self.init(.literal(.boolean(value)))
    case .number(let text):
      let number = ODataDecimal(text).map { ODataValue.untypedNumber($0) }
      self.init(.literal(number ?? (try? ODataValue(text: text, type: .double)) ?? .string(text)))
    case .string(let text): self.init(.literal(.string(text)))
    case .array(let items): self.init(.array(items.map { ODataExpression(json: $0) }))
    case .object(let members):
      self.init(.object(members.map { ODataObjectMember(name: $0.name, value: ODataExpression(json: $0.value)) }))
    }
  }
}

extension ODataSingleResponse {
  /// The bytes of a stream that an operation returned; nil for the null value (OData Protocol 4.01 §11.5.3, §11.5.4).
  fileprivate var stream: [UInt8]? { httpStatus == 204 ? nil : payloadBytes }
}
