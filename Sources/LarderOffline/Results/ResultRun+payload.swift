import LarderOData
import LarderStorage

extension ResultRun {
  /// Returns the result as values. They equal those of an online response with the same bytes, because the same reader
  /// parses them, piece by piece as they are written.
  ///
  /// - Returns: nil if there is no such entity or no value.
  func payload(_ connection: Connection) throws -> (payload: ODataPayload?, end: End) {
    if case .count = plan.content {
      let (bytes, end) = try json(connection)
      return (end.outcome == .content ? try ODataPayload(countText: bytes) : nil, end)
    }
    let builder = PayloadBuilder()
    var reader = JSONPayloadReader(options: payloadOptions)
    let end = try withoutRawValue.json(connection) { try reader.read($0, into: builder) }
    guard end.outcome == .content else { return (nil, end) }
    try reader.finish(into: builder)
    return (builder.payload, end)
  }

  /// A run that returns the property of a raw value instead, because values have types of their own.
  private var withoutRawValue: ResultRun {
    guard case .value(let member, isRaw: true) = plan.content else { return self }
    let plan = ReadPlan(
      sql: plan.sql, parameters: plan.parameters, content: .value(member, isRaw: false), isSingle: plan.isSingle,
      count: plan.count, page: plan.page, owner: plan.owner, checks: plan.checks)
    return ResultRun(plan: plan, url: url, form: form, model: model)
  }

  private var payloadOptions: PayloadOptions {
    var options = PayloadOptions(model: model)
    options.dialect = form.dialect
    switch plan.content {
    case .objects(let shape):
      options.expected = plan.isSingle ? .entity : .collection
      options.expectedType = (declaredType(shape)).map { EdmTypeReference($0.name) }
    case .references: options.expected = plan.isSingle ? .reference : .references
    case .value(let member, _):
      options.expected = .property
      let name = "\(member.type.item)"
      options.expectedType = EdmTypeReference(member.type.isCollection ? "Collection(\(name))" : name)
    case .count, .media: break
    }
    return options
  }
}
