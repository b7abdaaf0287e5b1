//! OData queries: built from typed fields, printed for either version, read back, put in one form.

import LarderOData

// The entities of a service, as far as the program asks for them.
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

// Conditions compose; what a user typed stays one text, whatever it holds.
let typed = CommandLine.arguments.dropFirst().first ?? "O'Neil & sons"
let dear = ODataFilter<Product> { $0.price > 100 }
let liked = ODataFilter<Product> { $0.reviews.any { $0.stars >= 4 } }
let found = ODataFilter<Product> { $0.name.contains(typed) || $0.category.name == typed }
print(try (dear && !liked && found).text())

// A whole query, for V4 and for V2.
let query = ODataQuery<Product>("Products")
  .filter(dear && found)
  .orderBy { [$0.price.descending, $0.name.ascending] }
  .expand { $0.category.select { $0.name } }
  .select { $0.name }
  .top(10)
print(try query.text())
print(try query.text(.v2))

// Without a type, by names.
print(try ODataFilter { $0["Price"] > 100 && $0["Category"]["Name"].contains("x") }.text())

// Read a URL, look at it, print it in its canonical form.
let parser = ODataParser()
let printer = ODataPrinter()
do {
  let url = try parser.relativeURL("Products(@key)?TOP=5&$FILTER=(Price%20GT%20%2B10.50)&@key=1")
  print(url.options.top ?? 0, try printer.print(printer.canonical(url)))
  _ = try parser.relativeURL("Products?$filter=Price%20gt")
} catch {
  // The place, the line with a caret, what was expected.
  print(error)
}
