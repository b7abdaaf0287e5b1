//! OData queries: built from typed fields, printed for V4 or V2, parsed, and printed in canonical form.

import LarderOData

// The entity types of a service, with the properties that the program uses.
struct Product: ODataDescribed {
  static let odataTypeName = "Shop.Product"
  struct Fields: ODataFields {
    let name = Field<String>("Name")
    let price = Field<ODataDecimal>("Price")
    let category = Navigation<Category>("Category")
    let reviews = NavigationCollection<Review>("Reviews")
  }
}

struct Category: ODataDescribed {
  static let odataTypeName = "Shop.Category"
  struct Fields: ODataFields {
    let name = Field<String>("Name")
  }
}

struct Review: ODataDescribed {
  static let odataTypeName = "Shop.Review"
  struct Fields: ODataFields {
    let stars = Field<Int32>("Stars")
  }
}

// Conditions can be combined. Text from the user is always one literal, whatever characters it contains.
let typed = CommandLine.arguments.dropFirst().first ?? "O'Neil & sons"
let expensive = ODataFilter<Product> { $0.price > 100 }
let liked = ODataFilter<Product> { $0.reviews.any { $0.stars >= 4 } }
let matching = ODataFilter<Product> { $0.name.contains(typed) || $0.category.name == typed }
print(try (expensive && !liked && matching).text())

// A whole query, for V4 and for V2.
let query = ODataQuery<Product>("Products")
  .filter(expensive && matching)
  .orderBy { [$0.price.descending, $0.name.ascending] }
  .expand { $0.category.select { $0.name } }
  .select { $0.name }
  .top(10)
print(try query.text())  // V4.01
print(try query.text(.v2))

// Without types, with property names.
print(try ODataFilter { $0["Price"] > 100 && $0["Category"]["Name"].contains("x") }.text())

// Parses a URL, reads its options, and prints it in its canonical form.
let parser = ODataParser()
let url = try parser.relativeURL("Products(@key)?TOP=5&$FILTER=(Price%20GT%20%2B10.50)&@key=1")
let printer = ODataPrinter()
print(url.options.top ?? 0, try printer.print(printer.canonical(url)))
do {
  _ = try parser.relativeURL("Products?$filter=Price%20gt")
} catch {
  // Prints the position, the line with a caret, and what was expected.
  print(error)
}
