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
    try await prepareSearch(text)
    return try await read { [self] connection, state, plan in
      try run(text, options, state, plan).json(connection)
    }
  }

  /// Makes the full-text indexes that a question with `$search` wants and that are not there (any more).
  func prepareSearch(_ text: String) async throws(OfflineODataError) {
    guard text.contains("search"), !text.hasPrefix(EventLog.setName) else { return }
    let wanted = try await read { [self] _, state, plan in try question(text, state, plan).plan.unindexed }
    guard !wanted.isEmpty else { return }
    do throws(StorageError) { try await replica.prepareSearch(wanted) } catch { throw OfflineODataError(error) }
  }

  /// A question ready to be answered in a transaction.
  func run(
    _ text: String, _ options: OfflineODataAnswerOptions, _ state: ReplicaState, _ plan: ReplicaPlan
  ) throws -> AnswerRun {
    let question = try question(text, state, plan)
    return AnswerRun(plan: question.plan, url: question.url, form: form(options, question.model), model: question.model)
  }
}

extension OfflineODataAnswerOptions {
  /// What a request's fields and `$format` ask for (JSON Format 4.01 §3).
  init(_ request: ODataSingleRequest) {
    self.init()
    let asked = (request.fields[.accept] ?? "").lowercased() + ";" + OfflineODataAnswerOptions.format(request.path)
    for parameter in asked.split(whereSeparator: { $0 == ";" || $0 == "," }) {
      let text = parameter.filter { $0 != " " }
      switch text {
      case "odata.metadata=full", "metadata=full": metadata = .full
      case "odata.metadata=none", "metadata=none": metadata = .none
      case "ieee754compatible=true": isIEEE754Compatible = true
      default: break
      }
    }
  }

  private static func format(_ path: String) -> String {
    let query = path.drop { $0 != "?" }.dropFirst()
    let option = query.split(separator: "&").first { $0.hasPrefix("$format=") || $0.hasPrefix("%24format=") }
    return option.map { $0.drop { $0 != "=" }.dropFirst().lowercased() } ?? ""
  }
}
