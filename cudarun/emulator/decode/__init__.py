"""From the syntax tree to decoded code: names to slots, labels to blocks, forms to functions."""
