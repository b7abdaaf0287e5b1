// Methods of files that are still to come; each goes as the file comes.
extension SyntaxReader {
  mutating func aggregateExpression(hasAlias: Bool) throws(ODataSyntaxError) -> ODataAggregateExpression {
    throw error(.notInDialect("aggregate"))
  }
  mutating func transformations() throws(ODataSyntaxError) -> [ODataTransformation] {
    throw error(.notInDialect("$apply"))
  }
  mutating func contextFragment() throws(ODataSyntaxError) -> ODataContextFragment {
    throw error(.notInDialect("a context fragment"))
  }
}
