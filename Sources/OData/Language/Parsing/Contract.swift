// Methods of files that are still to come; each goes as the file comes.
enum OptionPlace { case expandCount }
extension SyntaxReader {
  mutating func parenthesizedOptions(_ place: OptionPlace) throws(ODataSyntaxError) -> ODataQueryOptions {
    throw error(.notInDialect("options in parentheses"))
  }
  mutating func aggregateExpression(hasAlias: Bool) throws(ODataSyntaxError) -> ODataAggregateExpression {
    throw error(.notInDialect("aggregate"))
  }
}
