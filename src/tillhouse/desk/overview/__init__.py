"""The first page: is today all right?"""
