import HTTPCore
import OData
import ODataService
import Storage

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// Questions answered.
extension OpenStore {
  /// How answers are spelled.
  func form(_ options: OfflineODataAnswerOptions, _ model: EdmModel) -> AnswerForm {
    let metadata: AnswerForm.Metadata =
      switch options.metadata {
      case .none: .none
      case .minimal: .minimal
      case .full: .full
      }
    return AnswerForm(
      version: options.version ?? model.version, metadata: metadata, isIEEE754Compatible: options.isIEEE754Compatible,
      serviceRoot: root.url.absoluteString)
  }

  /// The bytes of an answer, and what became of the question.
  func json(
    _ path: String, _ options: OfflineODataAnswerOptions
  ) async throws(OfflineODataError) -> (bytes: [UInt8], end: AnswerRun.End) {
    let text = try relative(path)
    try await prepare(text)
    return try await read { [self] connection, state, plan in
      try run(text, options, state, plan).json(connection)
    }
  }

  /// Sees that what a question reads was downloaded, and makes the indexes that it wants.
  func prepare(_ text: String) async throws(OfflineODataError) {
    try await checkDownloaded(text)
    try await prepareSearch(text)
  }

  /// Makes the full-text indexes that a question with `$search` wants and that are not there (any more).
  private func prepareSearch(_ text: String) async throws(OfflineODataError) {
    guard text.contains("search"), !text.hasPrefix(EventLog.setName) else { return }
    let wanted = try await read { [self] _, state, plan in try question(text, state, plan).plan.unindexed }
    guard !wanted.isEmpty else { return }
    do throws(StorageError) { try await replica.prepareSearch(wanted) } catch { throw OfflineODataError(error) }
  }

  /// A question ready to be answered in a transaction.
  ///
  /// - `isPaged`: whether the answer can tell that there is a next page.
  func run(
    _ text: String, _ options: OfflineODataAnswerOptions, _ state: ReplicaState, _ plan: ReplicaPlan,
    isPaged: Bool = true
  ) throws -> AnswerRun {
    let question = try question(text, state, plan, isPaged: isPaged)
    var options = options
    if let format = question.url.options.format, question.plan.content.isJSON { try options.take(format: format) }
    return AnswerRun(plan: question.plan, url: question.url, form: form(options, plan.model), model: question.model)
  }
}

extension OfflineODataAnswerOptions {
  /// What a request's fields ask for (JSON Format 4.01 §3).
  init(_ request: ODataSingleRequest) {
    self.init()
    take(parameters: request.fields[.accept] ?? "")
  }

  /// Heeds `$format`, which goes before everything else (Protocol 4.01 §11.2.12).
  fileprivate mutating func take(format: String) throws(OfflineODataError) {
    let type = format.prefix { $0 != ";" }.lowercased().filter { $0 != " " }
    guard type == "json" || type == "application/json" else {
      throw OfflineODataError(.unsupportedQuery, "$format=\(format): answers are JSON")
    }
    take(parameters: format)
  }

  private mutating func take(parameters: String) {
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
  /// Whether the answer is JSON: not a number, a raw value or bytes.
  fileprivate var isJSON: Bool {
    switch self {
    case .objects, .references, .value(_, isRaw: false): true
    case .value, .count, .media: false
    }
  }
}
