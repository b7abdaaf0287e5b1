import LarderStorage

extension ResultRun {
  /// Runs a part of a query. If a function has no value for a row, the error names the row and the expression.
  func reportingFailedRow<Value>(_ connection: Connection, _ body: () throws -> Value) throws -> Value {
    do { return try body() } catch let error as StorageError where error.isOfFunction {
      guard let rowNaming = plan.rowNaming else { throw error }
      do {
        // The new plan reads the same rows in the same order, up to the row that fails.
        _ = try ResultRun(plan: try rowNaming.plan(), url: url, form: form, model: model).json(connection) { _ in }
      } catch let named as StorageError {
        if named.category == .interrupted { throw named }
        if let call = FailedCall(named.message) { throw rowNaming.error(call, connection) }
      }
      throw error
    }
  }
}
