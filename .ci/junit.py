# SPDX-License-Identifier: BSD-3-Clause
"""Print the numbers of tests, failed and skipped ones of a JUnit file that ctest wrote."""
import sys
import xml.etree.ElementTree

suite = xml.etree.ElementTree.parse(sys.argv[1]).getroot()
print(suite.get("tests"), suite.get("failures"),
      int(suite.get("skipped")) + int(suite.get("disabled")))
