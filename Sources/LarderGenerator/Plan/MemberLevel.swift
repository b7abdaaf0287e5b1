internal import LarderOData

/// The members that one type of a chain of base types declares, without those that have the name of one before them.
struct MemberLevel {
  /// The qualified name of the type.
  var type: String
  /// The properties with their Swift names.
  var properties: [(property: EdmProperty, name: String)]
  /// The navigation properties with their Swift names.
  var navigation: [(property: EdmNavigationProperty, name: String)]
  /// The names that the type declares again.
  var repeatedNames: [String]
}
