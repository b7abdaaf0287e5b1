/// SQLite's five storage classes.
package enum SQLStorageClass: Int32, Sendable, Hashable {
  case integer = 1
  case real = 2
  case text = 3
  case blob = 4
  case null = 5
}
