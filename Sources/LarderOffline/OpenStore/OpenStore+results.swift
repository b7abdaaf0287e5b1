@_spi(Stores) import LarderCore
@_spi(Stores) import LarderHTTP
import LarderOData
import LarderService
import LarderStorage

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// Results of queries on an open store.
extension OpenStore {
  /// The format of a result, by the options and the model.
  func form(_ options: OfflineODataResultOptions, _ model: EdmModel) -> ResultForm {
    let metadata: ResultForm.Metadata =
      switch options.metadata {
      case .none: .none
      case .minimal: .minimal
      case .full: .full
      }
    return ResultForm(
      version: options.version ?? model.version, metadata: metadata, isIEEE754Compatible: options.isIEEE754Compatible,
      serviceRoot: rootText)
  }

  /// Runs a query. Returns the bytes of its result, and how the run ended.
  func json(
    _ path: String, _ options: OfflineODataResultOptions
  ) async throws(OfflineODataError) -> (bytes: [UInt8], end: ResultRun.End) {
    let text = try relative(path)
    if text.isEmpty || text.hasPrefix("?"), let document = try await serviceDocument(text, options) { return document }
    try await prepare(text, options)
    return try await executeQuery(text, options) { run, connection in try run.json(connection) }
  }

  /// The service document, which is the resource at the service's root; nil if the text names another resource.
  private func serviceDocument(
    _ text: String, _ options: OfflineODataResultOptions
  ) async throws(OfflineODataError) -> (bytes: [UInt8], end: ResultRun.End)? {
    try await read { [self] snapshot in
      let binder = try binder(snapshot.plan)
      let url = try binder.bind(
        try ODataParser(snapshot.plan.model.version).relativeURL(text), text: text)
      guard case .service = url.resource else { return nil }
      let form = form(try options.heeding(url.options.format, isJSON: true), snapshot.plan.model)
      return (
        ServiceDocument(model: snapshot.plan.model, form: form).json(),
        ResultRun.End(outcome: .content, rows: 0, mediaType: form.mediaType)
      )
    }
  }

  /// Checks that the rows which a query reads were downloaded, and creates the full-text indexes that it needs.
  func prepare(
    _ text: String, _ options: OfflineODataResultOptions = OfflineODataResultOptions()
  ) async throws(OfflineODataError) {
    if !options.localRowsOnly { try await checkDownloaded(text) }
    try await prepareSearch(text, options)
  }

  /// Creates the full-text indexes that a query with `$search` needs and that do not exist, or no longer exist.
  private func prepareSearch(
    _ text: String, _ options: OfflineODataResultOptions
  ) async throws(OfflineODataError) {
    guard OpenStore.containsSearch(text), OpenStore.storeSet(text, replica.model) == nil else { return }
    let unindexed = try await plan(of: text, localRowsOnly: options.localRowsOnly).unindexed
    guard !unindexed.isEmpty else { return }
    do throws(StorageError) { try await replica.prepareSearch(unindexed) } catch { throw OfflineODataError(error) }
  }

  /// Whether a text contains `search`. It reads each byte once, because it runs for every query.
  static func containsSearch(_ text: String) -> Bool {
    let word: StaticString = "search"
    return word.withUTF8Buffer { letters in
      var matched = 0
      for byte in text.utf8 {
        // No suffix of a matched part begins the word again, so after a mismatch only the first letter can match.
        matched = unsafe byte == letters[matched] ? matched + 1 : byte == letters[0] ? 1 : 0
        if matched == letters.count { return true }
      }
      return false
    }
  }

  /// The representation of the entity in the response to a change; nil if the response has no content.
  func shown(
    _ change: AppliedChange, _ request: ODataSingleRequest, _ snapshot: ReplicaSnapshot
  ) throws -> (bytes: [UInt8], mediaType: String)? {
    guard let path = change.path else { return nil }
    let options = OfflineODataResultOptions(request)
    // A created entity is returned with the entities that were created with it (OData Protocol 4.01 §11.4.2.2).
    if let expand = DeepInsertExpansion(request, snapshot.plan.model).text {
      let text = path + "?$expand=" + expand
      let result = try? run(try make(text, snapshot, options), options, snapshot).json(snapshot.connection)
      if let result, result.end.outcome == .content { return (result.bytes, result.end.mediaType) }
    }
    let query =
      if let set = change.entity?.table, let key = change.key {
        try entityQuery(path, set: set, key: key, snapshot: snapshot, showsMarks: options.showsMarks(path))
      } else {
        try make(path, snapshot, options)
      }
    let result = try run(query, options, snapshot).json(snapshot.connection)
    return result.end.outcome == .content ? (result.bytes, result.end.mediaType) : nil
  }

  /// Plans a query whose text contains the key of a changed entity. It is not cached, because it is hardly used again.
  private func make(
    _ text: String, _ snapshot: ReplicaSnapshot, _ options: OfflineODataResultOptions
  ) throws -> PreparedQuery {
    try make(text, snapshot, QueryVariant(showsMarks: options.showsMarks(text)))
  }

  /// The query for an entity of a set by its key. It is planned for the first key that is requested, and reused for all
  /// other keys, unless the plan depends on the key.
  private func entityQuery(
    _ path: String, set: String, key: [SQLValue], snapshot: ReplicaSnapshot, showsMarks: Bool
  ) throws -> PreparedQuery {
    // No URL contains this character, so the name is unique.
    let name = "\u{0}\(set)" + (showsMarks ? "\n" : "")
    let parameters = key.map { ReadParameter.value($0) }
    if var cached = prepared.withLock({ $0.query(name, snapshot.state.version) }) {
      cached.plan = cached.plan.with(parameters)
      return cached
    }
    let query = try make(path, snapshot, QueryVariant(isPaged: false, showsMarks: showsMarks))
    guard query.plan.parameters == parameters, query.plan.count == nil, query.plan.owner == nil,
      !query.plan.usesCurrentTime, query.plan.checks.isEmpty
    else { return query }
    prepared.withLock { $0.keep(query, name, snapshot.state.version) }
    return query
  }
}

extension OfflineODataResultOptions {
  /// The options that a request's header fields specify (JSON Format 4.01 §3).
  init(_ request: ODataSingleRequest) {
    self.init()
    guard let accept = request.fields[.accept] else { return }
    accepted = OfflineODataResultOptions.ranges(accept)
    apply(parameters: accept)
  }

  /// The media ranges of an `Accept` field, without those of weight 0 (RFC 9110 §12.5.1).
  private static func ranges(_ accept: String) -> [String] {
    accept.lowercased().split(separator: ",").compactMap { range in
      let parts = range.split(separator: ";").map { $0.filter { $0 != " " && $0 != "\t" } }
      let weight = parts.dropFirst().first { $0.hasPrefix("q=") }.flatMap { Double($0.dropFirst(2)) }
      return weight == 0 ? nil : parts.first
    }
  }

  /// Whether the result marks each entity that the last download added or changed: if all control information is
  /// requested. `$format` is recognized as in ``heeding(_:isJSON:)``: in any case, with or without percent-encoding.
  func showsMarks(_ text: String) -> Bool {
    guard metadata != .full else { return true }
    guard let query = text.utf8.firstIndex(of: UInt8(ascii: "?")) else { return false }
    let options = String(text[query...])
    return (PercentEncoding.decode(options) ?? options).lowercased().filter { $0 != " " }.contains("metadata=full")
  }

  /// Applies `$format`, which takes precedence (Protocol 4.01 §11.2.12); otherwise the media types that the request
  /// accepts (§8.2.1).
  func heeding(_ format: String?, isJSON: Bool) throws(OfflineODataError) -> OfflineODataResultOptions {
    guard isJSON else { return self }
    var options = self
    if let format {
      try options.apply(format: format)
      return options
    }
    guard let accepted, accepted.allSatisfy({ !["application/json", "application/*", "*/*"].contains($0) }) else {
      return options
    }
    throw OfflineODataError(.unsupportedQuery, "Accept: \(accepted.joined(separator: ", ")): results are in JSON")
  }

  private mutating func apply(format: String) throws(OfflineODataError) {
    let type = format.prefix { $0 != ";" }.lowercased().filter { $0 != " " }
    guard type == "json" || type == "application/json" else {
      throw OfflineODataError(.unsupportedQuery, "$format=\(format): results are in JSON")
    }
    apply(parameters: format)
  }

  private mutating func apply(parameters: String) {
    for parameter in parameters.lowercased().split(whereSeparator: { $0 == ";" || $0 == "," }) {
      switch parameter.filter({ $0 != " " }) {
      case "odata.metadata=full", "metadata=full": metadata = .full
      case "odata.metadata=minimal", "metadata=minimal": metadata = .minimal
      case "odata.metadata=none", "metadata=none": metadata = .none
      case "ieee754compatible=true": isIEEE754Compatible = true
      case "ieee754compatible=false": isIEEE754Compatible = false
      default: break
      }
    }
  }
}

extension ReadContent {
  /// Whether the result is JSON: not a plain number, a raw value or bytes.
  var isJSON: Bool {
    switch self {
    case .objects, .references, .value(_, isRaw: false): true
    case .value, .count, .media: false
    }
  }
}
